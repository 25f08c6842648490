import * as z from 'zod';
import { ApiError } from '../../shared/errors.ts';
import { isWithin, type Network, normalizeNetwork, parseAddress } from '../../shared/network/ip-networks.ts';

/** The maximum number of allowed networks of an API key. */
const maxNetworks = 20;

const NetworkText = z.string().transform((text, { addIssue }) => {
  const network = normalizeNetwork(text.trim());
  if (network !== undefined) return network;
  const message =
    'must contain only IP addresses and CIDR ranges that can match an address, such as 192.0.2.0/24 or 2001:db8::/32, ' +
    `but contains ${text}`;
  addIssue({ code: 'custom', message });
  return z.NEVER;
});

/**
 * The schema of the CIDR ranges from which an API key works: an array, or a text with commas or line breaks between the
 * ranges. If there are none, the key works from every address.
 */
export const AllowedNetworks = z.preprocess(
  (given) => (typeof given === 'string' ? given.split(/[\s,]+/).filter((text) => text !== '') : given),
  z
    .array(NetworkText)
    .max(maxNetworks, `must contain at most ${maxNetworks} networks`)
    .transform((networks) => [...new Set(networks)]),
);

/**
 * Checks that a client may use an API key from its IP address (docs/decisions/api-keys-design.md).
 * @param networks the allowed networks; if empty, every address is allowed
 * @param client the request. `ip` is the address that `TRUST_PROXY` yields.
 * @throws ApiError ADDRESS_NOT_ALLOWED
 */
export function checkAddress(networks: readonly Network[], client: { readonly ip: string }): void {
  // Most keys have no networks, so the address of their clients isn't parsed.
  if (networks.length === 0) return;
  const address = parseAddress(client.ip);
  if (address !== undefined && networks.some((network) => isWithin(address, network))) return;
  const message =
    `This API key isn't allowed from the address ${client.ip}. ` +
    'Send the request from an allowed network, or ask an administrator to allow the address.';
  throw new ApiError('ADDRESS_NOT_ALLOWED', message);
}
