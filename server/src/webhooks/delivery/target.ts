import ipaddr from 'ipaddr.js';
import type { Settings } from '../../config/env.ts';
import { isLocalOnly } from '../../config/is-local-only.ts';
import { invalidField } from '../../shared/errors.ts';
import { type Address, isWithin, type Network, parseNetwork } from '../../shared/network/ip-networks.ts';
import type { HostLimits } from './in-flight.ts';

/** The policy that allows or blocks target URLs and addresses (docs/decisions/webhook-subscriptions.md). */
export interface TargetPolicy {
  /** Whether deliveries to http URLs, private addresses and internal host names are allowed. */
  readonly allowPrivate: boolean;
  /**
   * Rejects a URL that contains user info or a blocked IP address. Unless `allowPrivate` is true, also rejects internal
   * host names and URLs without https. Doesn't resolve host names, because the agent checks their addresses when it
   * connects.
   * @throws ApiError VALIDATION_ERROR with a detail for `url`
   */
  checkUrl(url: string): void;
  /**
   * Returns the reason why the policy blocks an address, for example `is not public`. Returns undefined if the address
   * is allowed.
   */
  findBlockReason(address: string): string | undefined;
}

/**
 * Networks that are always blocked: link-local addresses and the metadata services of cloud providers (AWS, Azure,
 * Google, Alibaba, Oracle, Scaleway). Metadata services return credentials.
 */
const neverCalled = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:42::42/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
];

/** The global unicast range of IPv6. All other ranges are reserved or embed an IPv4 address. */
const globalUnicast: Network = [ipaddr.IPv6.parse('2000::'), 3];

/** The NAT64 prefix. The last four bytes of an address with this prefix are an IPv4 address (RFC 6052). */
const nat64: Network = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Creates a target policy.
 * @param blockedNetworks CIDRs or addresses to block in addition to the built-in ones
 */
export function createTargetPolicy(options: {
  allowPrivate: boolean;
  blockedNetworks: readonly string[];
}): TargetPolicy {
  const { allowPrivate } = options;
  const blocked = [...neverCalled, ...options.blockedNetworks].map(parseNetwork);

  const findBlockReason = (text: string) => {
    if (!ipaddr.isValid(text)) return 'is not valid';
    const address = ipaddr.process(text);
    const embedded = embeddedIn(address);
    const [target = address] = isWithin(address, nat64) ? embedded : [];
    if (!allowPrivate && !isPublic(target)) return 'is not public';
    const isBlocked = blocked.some((network) => [address, ...embedded].some((each) => isWithin(each, network)));
    return isBlocked ? 'is blocked for webhooks' : undefined;
  };

  return {
    allowPrivate,
    findBlockReason,
    checkUrl(value) {
      const { hostname } = parseTarget(value, allowPrivate ? ['https:', 'http:'] : ['https:']);
      // The URL parser has already normalized decimal, hexadecimal and octal addresses, and short forms such as
      // `127.1`.
      const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
      const reason = ipaddr.isValid(host) ? findBlockReason(host) : undefined;
      if (reason === 'is not public' || (!allowPrivate && !ipaddr.isValid(host) && !isPublicName(host))) {
        throw invalidField(
          'VALIDATION_ERROR',
          'url',
          'must have a public host. Localhost, private addresses and internal names are not allowed.',
        );
      }
      if (reason !== undefined) {
        throw invalidField(
          'VALIDATION_ERROR',
          'url',
          'has a host that this server blocks for webhooks. Use another host.',
        );
      }
    },
  };
}

/**
 * Creates the target policy from the settings. By default, private targets are allowed only if the server uses the
 * embedded PostgreSQL and only the local machine can reach the server.
 */
export function readTargetPolicy(settings: Settings): TargetPolicy {
  const { WEBHOOK_ALLOW_PRIVATE_TARGETS, WEBHOOK_BLOCKED_NETWORKS, DATABASE_URL } = settings;
  return createTargetPolicy({
    allowPrivate: WEBHOOK_ALLOW_PRIVATE_TARGETS ?? (DATABASE_URL === undefined && isLocalOnly(settings)),
    blockedNetworks: WEBHOOK_BLOCKED_NETWORKS,
  });
}

/** Returns the limits per tenant and target host from the settings. */
export function readHostLimits(settings: Settings): HostLimits {
  return { maxConcurrent: settings.WEBHOOK_HOST_CONCURRENCY, maxPerSecond: settings.WEBHOOK_HOST_PER_SECOND };
}

function parseTarget(value: string, schemes: string[]): URL {
  // `URL.canParse` also accepts white space and a scheme without slashes, so the regular expression rejects them.
  if (!/^[a-z]+:\/\/\S+$/i.test(value) || !URL.canParse(value))
    throw invalidField('VALIDATION_ERROR', 'url', 'must be an absolute URL such as https://example.com/hook');
  const url = new URL(value);
  if (!schemes.includes(url.protocol)) throw invalidField('VALIDATION_ERROR', 'url', 'must start with https://');
  if (url.username !== '' || url.password !== '') {
    throw invalidField('VALIDATION_ERROR', 'url', 'must not contain a user name or password');
  }
  return url;
}

function isPublicName(host: string): boolean {
  const labels = host.split('.');
  return labels.length > 1 && !labels.includes('') && !/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host);
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || address.toString() === '168.63.129.16') return false;
  return address.kind() === 'ipv4' || isWithin(address, globalUnicast);
}

/** Returns the IPv4 addresses embedded in an IPv6 address (RFC 3056, 4380, 6052, 6145, 8215). */
function embeddedIn(address: Address): Address[] {
  const bytes = address.toByteArray();
  const at = (place: number) => ipaddr.fromByteArray(bytes.slice(place, place + 4));
  const range = address.range();
  if (range === 'rfc6052' || range === 'rfc6145') return [at(12)];
  if (range === '6to4') return [at(2)];
  if (range === 'teredo') return [at(4), ipaddr.fromByteArray(bytes.slice(12).map((byte) => byte ^ 0xff))];
  return [];
}
