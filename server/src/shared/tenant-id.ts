declare const brand: unique symbol;

/** The id of a tenant. The type keeps other ids from being used as one. */
export type TenantId = bigint & { readonly [brand]: 'TenantId' };

/** Converts the id of a row, of JSON or of text. */
export function toTenantId(id: bigint | number | string): TenantId {
  return BigInt(id) as TenantId;
}

/** Converts the id to text for logs, traces and jobs. Text keeps all 64 bits. */
export function tenantIdToJson(id: TenantId): string {
  return String(id);
}
