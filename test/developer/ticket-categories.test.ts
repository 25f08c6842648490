import { getTicketCategory } from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { describe, expect } from 'vitest';
import { admin, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { etagOf } from '../support/visitor.ts';

const list = '/developer/ticket-categories';
const create = (fields: object) =>
  admin.submit(`${list}/new`, 'create', { id: 'network', name: 'Network', parentId: '', category: '', ...fields });

describe('/developer/ticket-categories', () => {
  it('creates, lists and changes a ticket category with any id', async () => {
    const id = `"<ü>" & ${'/?#%'.repeat(60)}`;
    const { headers } = await create({ id, category: 'NETWORK' });
    const here = headers.location ?? '';
    expect(await getTicketCategory(workspace.context, id)).toMatchObject({
      ...{ name: 'Network', parentId: null, category: 'NETWORK', active: true },
    });
    expect((await admin.get(list)).text).toContain(`<a href="${here}">&quot;&lt;ü&gt;&quot; &amp; /?#%`);

    await create({ id: 'other' });
    const change = { name: 'VPN', parentId: 'other', category: '', etag: await etagOf(admin, here) };
    expect((await admin.submit(here, 'change', change)).status).toBe(303);
    expect(await getTicketCategory(workspace.context, id)).toMatchObject({
      ...{ name: 'VPN', parentId: 'other', category: null, active: false },
    });
  });

  it('shows an unknown parent next to the field and keeps the entered values', async () => {
    const unknown = await create({ id: 'new', parentId: 'unknown' });
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('id="error-parentId">must be the id of a ticket category of this workspace');
    expect(unknown.text).toContain('name="parentId" value="unknown"');
  });

  it('shows the id of a ticket category in the audit log', async () => {
    await create({ id: 'audited' });
    expect((await admin.get('/developer/audit')).text).toContain('category audited</a>');
  });
});
