import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The first of the IPv6 addresses that stand for IPv4 addresses (RFC 4291 §2.5.5.2). */
const firstMapped = ipaddr.IPv6.parse('::ffff:0:0');

/**
 * Returns true if a text is an IP address, or a network in CIDR notation that can contain addresses. Rejects forms that
 * programs interpret differently, such as octal and hexadecimal numbers, short forms and leading zeros.
 */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || others.length > 0) return false;
  if (bits === undefined) return true;
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  return version === 4 || !matchesNothing(ipaddr.IPv6.parse(address), Number(bits));
}

/**
 * Returns true if an IPv6 network is meant for IPv4 addresses, but contains none: IPv4-mapped addresses with a prefix
 * of less than 96 bits. The server converts IPv4-mapped addresses to IPv4 before it compares them. Networks with more
 * than 80 bits contain no other assigned addresses.
 */
function matchesNothing(address: ipaddr.IPv6, bits: number): boolean {
  return bits < 96 && firstMapped.match(address, bits) && (bits > 80 || address.isIPv4MappedAddress());
}
