import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { newSecret } from '@itsm-api/server/webhooks/secrets/new-secret.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import type pg from 'pg';
import { webhookSecretKey } from '../api/servers.ts';
import { idsPerTenant, teamsPerTenant, tenants } from './tickets.ts';

/*
 * Loads the rows of all resources except tickets. The largest tenant (1) has rows of each resource, and some rows are
 * as large as the contract allows. PostgreSQL runs the triggers.
 */

/** The ids of the largest ticket, and of the ticket with the most comments, activities, links and attachments. */
export const [largestTicket, busiestTicket] = [3, 1];
const allTenants = `generate_series(1, ${tenants}) AS t`;
const own = (perTenant: number, id: string) => `(t - 1) * ${perTenant} + ${id}`;

/** Loads the rows to which tickets refer. */
export async function loadBeforeTickets(client: pg.Client): Promise<void> {
  const ids = (count: number) => `generate_series(1, ${count}) AS g`;
  await client.query(`
    INSERT INTO tenants (id, name, name_key, updated_at) SELECT t, 'Tenant ' || t, 'tenant ' || t, now() FROM ${allTenants};
    INSERT INTO users (tenant_id, id, name, email, role, job_title, updated_at)
      SELECT t, ${own(idsPerTenant, 'g')}, 'User ' || g, 'user' || g || '@example.com',
        CASE WHEN g % 10 = 0 THEN 'AGENT' WHEN g <= 9 THEN 'ADMIN' ELSE 'REQUESTER' END, repeat('engineer ', 1 + g % 5), now()
      FROM ${allTenants}, ${ids(idsPerTenant)};
    INSERT INTO teams (tenant_id, id, name, name_key, updated_at)
      SELECT t, ${own(teamsPerTenant, 'g')}, 'Team ' || g, 'team ' || g, now() FROM ${allTenants}, ${ids(teamsPerTenant)};
    INSERT INTO team_members (tenant_id, team_id, user_id)
      SELECT t, ${own(teamsPerTenant, '1')}, ${own(idsPerTenant, 'g')} FROM ${allTenants}, ${ids(500)};
    INSERT INTO ticket_categories (tenant_id, id, name, updated_at)
      SELECT t, 'cat-' || g, 'Category ' || g, now() FROM ${allTenants}, ${ids(200)};
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, options, filterable, backfilled, updated_at)
      SELECT t, 'TICKET', key, 'SELECT', key,
        (SELECT jsonb_agg(jsonb_build_object('value', value, 'label', value, 'active', true)) FROM unnest(options) AS value),
        true, true, now()
      FROM ${allTenants}, (VALUES ('site', ARRAY['hq', 'branch', 'ship']), ('stage', ARRAY['production', 'test'])) AS f (key, options);
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, description, options, filterable, backfilled, updated_at)
      SELECT 1, resource, 'field' || g, 'MULTI_SELECT', 'Field ' || g, repeat('Choose what applies. ', 40),
        (SELECT jsonb_agg(jsonb_build_object('value', 'option ' || o, 'label', 'Option ' || o, 'active', true))
          FROM generate_series(1, 20) AS o), resource = 'ASSET' AND g = 1, true, now()
      FROM unnest(ARRAY['TICKET', 'ASSET']) AS resource, ${ids(47)};
    INSERT INTO request_forms (tenant_id, key, plain_key, name, type, category, fields, updated_at)
      SELECT 1, key, replace(key, '-', ''), key, 'SERVICE_REQUEST', 'ACCESS',
        (SELECT jsonb_agg(jsonb_build_object('key', 'field' || f, 'required', false, 'default', null, 'fixed', null,
          'help', repeat('Ask your manager. ', 10))) FROM generate_series(1, 30) AS f), now()
      FROM (SELECT 'form-' || g AS key FROM ${ids(97)} UNION ALL VALUES ('access'), ('laptop'), ('new-hire')) AS f;
    INSERT INTO assets (tenant_id, id, name, asset_tag, serial_number, type, status, assigned_to_id, tags, custom_fields, updated_at)
      SELECT t, ${own(idsPerTenant, 'g')}, 'Laptop of user ' || g, 'A' || g, 'S' || g % 5000,
        CASE WHEN g % 10 < 6 THEN 'LAPTOP' ELSE 'SERVER' END, CASE WHEN g % 10 < 7 THEN 'IN_USE' ELSE 'IN_STOCK' END,
        CASE WHEN g % 5 < 2 THEN ${own(idsPerTenant, '2')} END, CASE WHEN g % 2 = 0 THEN ARRAY['common'] ELSE '{}' END,
        CASE WHEN t = 1 THEN jsonb_build_object('field1', jsonb_build_array('option ' || 1 + g % 3)) ELSE '{}' END, now()
      FROM ${allTenants}, ${ids(idsPerTenant)};
    SELECT setval('tenants_id_seq', ${tenants}), setval('users_id_seq', ${tenants * idsPerTenant}),
      setval('teams_id_seq', ${tenants * teamsPerTenant}), setval('assets_id_seq', ${tenants * idsPerTenant})`);
}

/** Loads the rows that refer to tickets, and the other resources. */
export async function loadAfterTickets(client: pg.Client): Promise<void> {
  const ids = (count: number) => `generate_series(1, ${count}) AS g`;
  // No worker runs, so nothing decrypts the secret.
  const owner = { tenantId: 1n as TenantId, subscriptionId: 1n };
  const secret = Buffer.from(createSecretCipher([webhookSecretKey]).encrypt(newSecret(), owner)).toString('hex');
  const someTicket = `CASE WHEN g <= 20000 THEN ${busiestTicket} ELSE 1 + 2 * (g % 1000) END`;
  await client.query(`
    UPDATE tickets SET description = (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 1900) n),
        watcher_ids = ARRAY(SELECT generate_series(1, 100)), asset_ids = ARRAY(SELECT generate_series(1, 50)),
        tags = ARRAY(SELECT 'tag-' || n FROM generate_series(1, 20) n), custom_fields = (
          SELECT jsonb_object_agg('field' || n, jsonb_build_array('option 1', 'option 2')) FROM generate_series(1, 47) n)
      WHERE tenant_id = 1 AND id = ANY (ARRAY(SELECT 1 + 2 * generate_series(1, 100)));
    INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility)
      SELECT 1, ${someTicket}, 10, repeat('It works again. ', CASE WHEN g % 100 = 0 THEN 1000 ELSE 2 END), 'PUBLIC' FROM ${ids(200_000)};
    INSERT INTO activities (tenant_id, resource, resource_id, action, at, actor_user_id, changes)
      SELECT 1, 'TICKET', ${someTicket}, 'UPDATED', now(), 2, '{"status": {"from": "OPEN", "to": "PENDING"}}' FROM ${ids(200_000)};
    INSERT INTO activities (tenant_id, resource, resource_id, action, at, actor_user_id, changes)
      SELECT 1, 'ASSET', 1 + g % 100, 'UPDATED', now(), 2, '{"status": {"from": "IN_STOCK", "to": "IN_USE"}}' FROM ${ids(50_000)};
    INSERT INTO attachments (tenant_id, ticket_id, name, content_type, size, sha256, storage_key, uploader_id)
      SELECT 1, ${busiestTicket}, 'photo ' || g || '.png', 'image/png', 1000, md5(g::text) || md5(g::text), '1/' || gen_random_uuid(), 2 FROM ${ids(500)};
    INSERT INTO ticket_links (tenant_id, type, ticket_id, target_id)
      SELECT 1, 'RELATES_TO', ${busiestTicket}, 1 + 2 * g FROM ${ids(500)};
    INSERT INTO approvals (tenant_id, ticket_id, approver_id, created_by_id, decision, decided_at)
      SELECT 1, id, CASE WHEN ordinal % 5 < 2 THEN 2 ELSE 10 + ordinal % 500 END, 2, approval_status,
        CASE WHEN approval_status <> 'PENDING' THEN now() END
      FROM tickets WHERE tenant_id = 1 AND approval_status <> 'NONE' ORDER BY id LIMIT 200000;
    INSERT INTO projects (tenant_id, key, name, status, updated_at)
      SELECT 1, 'P' || g, 'Project ' || g, CASE WHEN g % 5 < 3 THEN 'ACTIVE' ELSE 'PLANNED' END, now() FROM ${ids(1000)};
    INSERT INTO tasks (tenant_id, project_id, title, status, priority, assignee_id, updated_at)
      SELECT 1, (SELECT min(id) FROM projects) + CASE WHEN g % 5 < 3 THEN 0 ELSE g % 1000 END, 'Order cable ' || g,
        CASE WHEN g % 2 = 0 THEN 'TODO' ELSE 'DONE' END, CASE WHEN g % 3 = 0 THEN 'HIGH' ELSE 'MEDIUM' END,
        CASE WHEN g % 5 < 2 THEN 2 ELSE 10 + g % 500 END, now() FROM ${ids(60_000)};
    INSERT INTO articles (tenant_id, title, category, body, status, updated_at)
      SELECT 1, 'Connect to network ' || g, CASE WHEN g % 2 = 0 THEN 'Network' END,
        repeat('Choose the network and enter the password ' || g || '. ', CASE WHEN g % 100 = 0 THEN 4000 ELSE 20 END), 'PUBLISHED', now()
      FROM ${ids(3000)};
    INSERT INTO webhook_subscriptions (tenant_id, url, secret, events, updated_at)
      SELECT 1, 'https://example.com/' || g, '\\x${secret}', ARRAY['ticket.created'], now() FROM ${ids(20)};
    INSERT INTO events (tenant_id, public_id, type, body)
      SELECT 1, 'evt_' || g, 'ticket.created', jsonb_build_object('id', g, 'text', repeat('text ', 100)) FROM ${ids(100_000)};
    INSERT INTO deliveries (tenant_id, subscription_id, event_id, state, attempts, settled_at)
      SELECT 1, (SELECT min(id) FROM webhook_subscriptions), id,
        CASE WHEN id % 100 = 0 THEN 'EXHAUSTED' ELSE 'DELIVERED' END, 1, now() FROM events;
    INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status, public_answer)
      SELECT 1, (SELECT min(id) FROM deliveries), g, now(), 100, 200, repeat('x', 1000) FROM ${ids(15)};
    INSERT INTO proposals (tenant_id, operation, params, body, reason, status, target, preview, proposed_by_id, key_id, expires_at, updated_at)
      SELECT 1, 'tickets_update', '{"id": 1}', '{"status": "PENDING"}', 'It waits.', CASE WHEN g % 10 = 0 THEN 'PENDING' ELSE 'REJECTED' END,
        'TICKET:' || g, jsonb_build_array(jsonb_build_object('target', 'TICKET:' || g, 'status', 'OPEN',
          'changes', '{"status": {"from": "OPEN", "to": "PENDING"}}'::jsonb)), 2, (SELECT min(id) FROM api_keys WHERE tenant_id = 1), now() + interval '7 days', now() FROM ${ids(20_000)}`);
  await client.query('VACUUM (ANALYZE)');
}
