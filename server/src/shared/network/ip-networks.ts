import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isNetwork } from '../../config/is-network.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: one of its addresses, and the length of its prefix in bits. */
export type Network = [Address, number];

/**
 * Parses a CIDR range or an IP address. Converts an IPv4-mapped IPv6 network to the corresponding IPv4 network.
 * @throws Error if the text is neither
 */
export function parseNetwork(text: string): Network {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), text.includes(':') ? 128 : 32];
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/**
 * Returns the canonical text of a network, such as `10.0.0.0/8` for `10.1.2.3/8`, or undefined if `isNetwork` rejects the
 * text.
 */
export function normalizeNetwork(text: string): string | undefined {
  if (!isNetwork(text)) return undefined;
  const [address, bits] = parseNetwork(text);
  const Kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${textOf(Kind.networkAddressFromCIDR(`${address}/${bits}`))}/${bits}`;
}

/**
 * Parses an IP address. Converts an IPv4-mapped IPv6 address to the IPv4 address, and removes the zone. Returns
 * undefined if the text isn't an IP address. Rejects octal and hexadecimal numbers and short forms of IPv4 addresses.
 */
export function parseAddress(text: string): Address | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*/, ''));
}

/**
 * Returns the canonical text of an IP address (RFC 5952), or undefined if the text isn't an IP address. Removes the
 * brackets and the port that proxies add in `X-Forwarded-For`.
 */
export function normalizeAddress(text: string): string | undefined {
  // An IPv4 address has only one valid spelling.
  if (isIPv4(text)) return text;
  const address = parseAddress(text) ?? parseAddress(text.replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1'));
  return address && textOf(address);
}

function textOf(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/** Returns whether an address is in a network. */
export function isWithin(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network as never);
}

/**
 * Returns the name under which limits count the requests of a client. For IPv6, returns the /64 network, because a
 * subscriber can use all addresses in such a network. For other clients, returns the address itself.
 * @param address the normalized address, or `unknown`
 */
export function clientNetworkOf(address: string): string {
  return address.includes(':') ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString() : address;
}
