import ipaddr from 'ipaddr.js';

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
 * Returns the canonical text of a network, such as `10.0.0.0/8` for `10.1.2.3/8`, or undefined if the text is neither a
 * CIDR range nor an IP address. Rejects forms that programs interpret differently, such as octal numbers.
 */
export function normalizeNetwork(text: string): string | undefined {
  const isIPv4 = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv4.isValidCIDRFourPartDecimal(text);
  const isIPv6 = !text.includes('%') && (ipaddr.IPv6.isValid(text) || ipaddr.IPv6.isValidCIDR(text));
  if (!isIPv4 && !isIPv6) return undefined;
  const [address, bits] = parseNetwork(text);
  const Kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${textOf(Kind.networkAddressFromCIDR(`${address}/${bits}`))}/${bits}`;
}

/**
 * Parses the IP address of a client. Removes the port that some proxies add in `X-Forwarded-For`. Converts an
 * IPv4-mapped IPv6 address to the IPv4 address. Returns undefined if the text isn't an IP address.
 */
export function parseAddress(text: string): Address | undefined {
  const withoutPort = text.replace(/^\[(.*)\]:\d+$|^([\d.]+):\d+$/, '$1$2');
  return ipaddr.isValid(withoutPort) ? ipaddr.process(withoutPort) : undefined;
}

/** Returns the canonical text of an IP address (RFC 5952). */
export function textOf(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/** Returns whether an address is in a network. */
export function isWithin(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network as never);
}
