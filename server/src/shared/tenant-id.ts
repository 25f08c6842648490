declare const brand: unique symbol;

/** The id of a tenant. The branded type prevents the use of other ids as tenant ids. */
export type TenantId = bigint & { readonly [brand]: 'TenantId' };

/** Converts an id from a row, JSON or text to the id of a tenant. */
export function toTenantId(id: bigint | number | string): TenantId {
  return BigInt(id) as TenantId;
}

/** Converts the id to text for logs, traces and jobs. A JSON number could not represent all 64 bits of the id. */
export function tenantIdToJson(id: TenantId): string {
  return String(id);
}
