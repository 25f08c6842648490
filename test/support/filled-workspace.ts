import { setKeyPolicy } from '@itsm-api/server/auth/api-keys/key-policy.ts';
import { setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { keepUpload } from '@itsm-api/server/resources/csv/csv-uploads.ts';
import type { Api } from './api.ts';
import { query } from './database.ts';
import { signIn } from './visitor.ts';
import { ticket, type Workspace } from './workspace.ts';

/** Inserts one row of the workspace into every table. */
export async function fillWorkspace(api: Api, workspace: Workspace): Promise<void> {
  const webhook = await workspace.createWebhook();
  for (const resource of ['TICKET', 'ASSET'] as const) {
    await workspace.createField({ resource, key: 'managed', type: 'BOOLEAN', filterable: true });
  }
  await workspace.call('POST', `/webhooks/${webhook.id}/replay`, { since: '2026-11-20T10:00:00Z' });
  await workspace.createTicketCategory({ id: 'b' });
  await workspace.createForm({ fields: [{ key: 'managed' }] });
  const { id } = await workspace.createTicket({
    assigneeId: workspace.userId,
    teamId: (await workspace.createTeam({ memberIds: [workspace.userId] })).id,
    categoryConfigId: (await workspace.createTicketCategory({ id: 'a', parentId: 'b' })).id,
    watcherUserIds: [workspace.userId],
    assetIds: [(await workspace.createAsset({ tags: ['leased'], customFields: { managed: true } })).id],
    tags: ['vip'],
    customFields: { managed: true },
  });
  await workspace.createComment(id);
  await workspace.createLink(id);
  await workspace.createApproval();
  await workspace.createAttachment(id);
  await workspace.call('DELETE', `/attachments/${(await workspace.createAttachment(id)).id}`);
  const preview = { lines: 0, first: [], problems: 0, firstProblems: [] };
  await keepUpload(workspace.context, 'assets', { content: Buffer.from('name,assetTag,type'), preview });
  await workspace.createTask();
  await workspace.createProposal({ operation: 'tickets_update', params: { id }, body: { title: 'Changed' } });
  await workspace.createArticle();
  await setKeyPolicy(workspace.context, { maxLifetimeDays: 90 });
  await setBusinessHours(workspace.context, {
    calendar: { timeZone: 'UTC', intervals: [{ weekday: 'MONDAY', opens: '09:00', closes: '17:30' }] },
    targets: { resolution: { MEDIUM: 60 }, firstResponse: { MEDIUM: 60 } },
  });
  await workspace.call('POST', '/tickets', ticket, { 'idempotency-key': 'x' });
  await signIn(api, workspace);
  const credentials = `WITH password AS (
      INSERT INTO passwords (tenant_id, user_id, hash, updated_at) VALUES ($1, $2, '', now()))
    INSERT INTO passkeys (tenant_id, user_id, credential_id, public_key, name) VALUES ($1, $2, '', '', '')`;
  await query(api.databaseUrl, credentials, [workspace.tenantId, workspace.userId]);
  await query(
    api.databaseUrl,
    `INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms)
     SELECT tenant_id, id, 1, now(), 1 FROM deliveries WHERE tenant_id = $1`,
    [workspace.tenantId],
  );
  await api.usage.flush();
  await api.requestLog.flush();
}
