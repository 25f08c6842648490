import ipaddr from 'ipaddr.js';
import { invalidField } from '../errors.ts';

/**
 * Refuses a URL that deliveries may not go to, as far as the URL alone tells: https, no user info, and no literal
 * address outside public unicast, in any spelling (docs/decisions/webhook-subscriptions.md). Names are not resolved
 * here; what they resolve to is checked when a delivery connects.
 * @throws ApiError VALIDATION_ERROR naming `url`
 */
export function checkTargetUrl(value: string, allowPrivateTargets: boolean): void {
  // The parser forgives what a person would not mean: white space, and a scheme without slashes.
  if (!/^[a-z]+:\/\/\S+$/i.test(value) || !URL.canParse(value))
    throw invalidField('VALIDATION_ERROR', 'url', 'must be an absolute URL such as https://example.com/hook');
  const url = new URL(value);

  const schemes = allowPrivateTargets ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) throw invalidField('VALIDATION_ERROR', 'url', 'must begin with https://');
  if (url.username !== '' || url.password !== '') {
    throw invalidField('VALIDATION_ERROR', 'url', 'must not hold a user name or password');
  }
  if (!allowPrivateTargets && !isPublicHost(url.hostname)) {
    throw invalidField('VALIDATION_ERROR', 'url', 'must lead to a public host');
  }
}

/** The URL parser has already turned every spelling of an address (decimal, hex, octal, short) into the usual one. */
function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (ipaddr.isValid(host)) return isPublicAddress(host);
  const labels = host.split('.');
  return labels.length > 1 && !labels.includes('') && !/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host);
}

/** Public by their range, and yet a cloud's own service behind every machine in it: Azure's. */
const cloudAddresses = ['168.63.129.16'];

/** Global unicast of IPv6: all else is set aside, or wraps an IPv4 address. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Whether an address is public unicast, also where an IPv6 address wraps an IPv4 one. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || cloudAddresses.includes(ipaddr.process(address).toString())) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicast));
}
