import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { getAdministeredForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import { describe, expect } from 'vitest';
import { admin, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { declarations, typeRow } from '../support/nouns.ts';

const path = '/developer/request-forms';
const { noun } = declarations.find(({ command }) => command === 'forms') as (typeof declarations)[number];
const read = (key: string) => getAdministeredForm(workspace.context, key);

/** Submits what the page of a form shows, with some other values. */
async function save(key: string, changes: Record<string, string>) {
  const form = await read(key);
  const typed = await typeRow(noun, 'update', workspace, form);
  return admin.submit(`${path}/one?key=${key}`, 'change', { ...typed, etag: form.etag, ...changes });
}

describe('/developer/request-forms', () => {
  it('keeps all values if an administrator saves the form again, also those of inactive fields', async () => {
    const options = ['a b', 'c;d', 'e\nf'].map((value) => ({ value, label: value }));
    const types = { floor: 'NUMBER', vip: 'BOOLEAN', rooms: 'MULTI_SELECT', owner: 'USER', note: 'TEXT' } as const;
    for (const [key, type] of Object.entries(types)) {
      await workspace.createField({ key, type, ...(type === 'MULTI_SELECT' && { options }) });
    }
    const forms = {
      words: [
        { key: 'floor', required: true, default: 2 },
        { key: 'vip', fixed: true },
        { key: 'owner', default: 7 },
      ],
      'small-number': [{ key: 'floor', default: 1e-7 }],
      'one-list': [{ key: 'rooms', default: ['a b'] }],
      'line-break': [
        { key: 'rooms', default: ['a b', 'e\nf'] },
        { key: 'note', fixed: 'a\nsite' },
      ],
      semicolon: [
        { key: 'rooms', default: ['c;d'] },
        { key: 'note', help: 'Why; and when?' },
      ],
    };
    for (const [key, fields] of Object.entries(forms)) await workspace.createForm({ key, fields });
    for (const round of ['active', 'inactive']) {
      for (const key of Object.keys(forms)) {
        const { fields } = await read(key);
        expect((await save(key, { name: `${key} ${round}` })).status, `${key} ${round}`).toBe(303);
        expect(await read(key)).toMatchObject({ name: `${key} ${round}`, fields });
      }
      for (const key of Object.keys(types)) {
        await updateCustomFieldDefinition(workspace.context, { resource: 'TICKET', key }, { active: false });
      }
    }
  });

  it('shows errors of converted values next to the field', async () => {
    await workspace.createField({ key: 'size', type: 'NUMBER' });
    const { key } = await workspace.createForm({ fields: [{ key: 'size' }] });
    for (const [text, message] of [
      ['size; default=99999999999999999999', 'must be 0, or have an absolute value'],
      ['size; default=large', 'size default must be a number'],
      ['size\ncolour', 'colour must be an active custom field'],
      ['[1, null, "x", []]', 'must be an object'],
      ['[{"key": "size", "default": {}}]', 'must be a string, number, boolean or null'],
      ['[{"key": "size"', 'must be valid JSON'],
      ['size; constructor=1; __proto__=2', 'is not a field of this request'],
    ] as const) {
      const { status, text: page } = await save(key, { fields: text });
      expect([status, page], text).toEqual([400, expect.stringMatching(/id="error-fields">/)]);
      expect(page, text).toContain(message);
    }
  });
});
