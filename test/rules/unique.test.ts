import { createTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { unique } from '../support/workspace.ts';

describe('unique fields', () => {
  it.each([
    ['email', (value: string) => workspace.createUser({ email: `${value}@example.com` })],
    ['assetTag', (value: string) => workspace.createAsset({ assetTag: value })],
    ['key', (value: string) => workspace.createProject({ key: `K${value.toUpperCase()}` })],
    ['name', (value: string) => createTenant(api.prisma, { name: value, adminEmail: 'ada@example.com' })],
  ])('creates only one of 5 concurrent rows with the same %s', async (field, create) => {
    const value = unique();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => create(value)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: field }] });
      expect(reason.message).toContain('is already used by another');
    }
  });
});
