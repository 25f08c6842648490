import type { Scope } from '@itsm-api/contract';

/* Models API keys and scopes (spec §4, §5). */

/** Returns the scope that an operation requires, or undefined if any valid key is sufficient. */
export function scopeOf(operation: string): Scope | undefined {
  // Other requests for proposals need the scope of the operation. Each key has all scopes that write, or none.
  if (operation === 'proposals.list' || operation === 'proposals.delete') return undefined;
  const [resource = '', name = ''] = operation.split('.');
  const isWrite = /^(attach|create|decide|update|upsert|delete|replay|submit|test)/.test(name);
  if (['me', 'fields', 'document', 'businessHours'].includes(resource)) return undefined;
  if (resource === 'requestForms' && !isWrite) return undefined;
  if (resource === 'webhooks' || resource === 'deliveries') return 'webhooks:manage';
  if (resource === 'articles') return 'kb:read';
  if (resource === 'users' || resource === 'teams') return 'users:read';
  if (resource === 'projects' || resource === 'tasks') return isWrite ? 'projects:write' : 'projects:read';
  if (resource === 'assets' || name === 'ofAsset') return isWrite ? 'assets:write' : 'assets:read';
  return isWrite ? 'tickets:write' : 'tickets:read';
}
