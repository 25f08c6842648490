declare const brand: unique symbol;

/** The id of a tenant. The type is branded, so that other ids can't be used as tenant ids. */
export type TenantId = bigint & { readonly [brand]: 'TenantId' };

/** Converts an id from a database row, JSON or text to a tenant id. */
export function toTenantId(id: bigint | number | string): TenantId {
  return BigInt(id) as TenantId;
}

/** Converts a tenant id to text for logs, traces and jobs. A JSON number can't represent all 64-bit ids exactly. */
export function tenantIdToJson(id: TenantId): string {
  return String(id);
}
