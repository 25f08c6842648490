declare const brand: unique symbol;

/** The id of a tenant. SQL takes it as it is, in memory it is compared as a number. */
export type TenantId = bigint & { readonly [brand]: 'TenantId' };

/** Reads an id as rows, JSON or text have it. */
export function toTenantId(id: bigint | number | string): TenantId {
  return BigInt(id) as TenantId;
}

/** Returns the id as logs, traces and jobs have it: text, which keeps all 64 bits. */
export function tenantIdToJson(id: TenantId): string {
  return String(id);
}
