import { pathPrefix, type UserRole } from '@itsm-api/contract';
import { hashPassword } from '@itsm-api/server/auth/accounts/passwords.ts';
import { newToken } from '@itsm-api/server/auth/accounts/token.ts';
import { createKey, getKey, rotateKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { listAudit } from '@itsm-api/server/resources/audit/queries.ts';
import { getUser, listUsers } from '@itsm-api/server/resources/users/queries.ts';
import { activateUser, deactivateUser, updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { etagOf, type Fields, openBrowser, signIn, type Visitor } from '../support/visitor.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, unique } from '../support/workspace.ts';

/** Returns the invitation link that a page contains. */
function linkIn(text: string): string | undefined {
  return /http:\/\/localhost(\/developer\/join\?token=[^<"]+)/.exec(text)?.[1];
}

/** Creates a user with an API key. */
async function createUserWithKey(role: UserRole): Promise<{ id: number; keyId: number; key: string }> {
  const { id, email } = await workspace.createUser({ role });
  const fields = { user: email, name: `Key ${unique()}`, scopes: ['users:read' as const] };
  const { id: keyId, key } = await createKey(workspace.context, fields);
  return { id, keyId, key };
}

const details = { name: 'Ada', jobTitle: '', department: '', phone: '', timeZone: '' };

describe('/developer/users', () => {
  it('filters users by name, role and status', async () => {
    const name = `Zoë ${unique()}`;
    const { id } = await workspace.createUser({ name, role: 'REQUESTER' });
    const other = await workspace.createUser({ name: 'Another User' });
    const found = async (query: string) => {
      const { status, text } = await admin.get(`/developer/users?${query}`);
      expect(status, text).toBe(200);
      return [id, other.id].filter((each) => text.includes(`/developer/users/${each}"`));
    };
    expect(await found('')).toEqual([id, other.id]);
    expect(await found(new URLSearchParams({ q: name, role: '', status: '' }).toString())).toEqual([id]);
    expect(await found('role=AGENT&status=active')).toEqual([other.id]);
    expect(await found('status=inactive')).toEqual([]);
    expect((await admin.get('/developer/users?q=%2B')).text).toContain('must contain a letter or a digit');
  });

  it('shows who was invited and has not joined, and the last sign-in', async () => {
    const email = `${unique()}@example.com`;
    const sent = await admin.submit('/developer/users/new', 'create', { name: 'Eve', email, role: 'AGENT' });
    const to = sent.headers.location ?? '';
    const link = linkIn((await admin.get(to)).text) ?? '';
    const rowOf = async (query: string) => {
      const { text } = await admin.get(`/developer/users?${query}`);
      const row = (text.match(/<tr role="row">.*?<\/tr>/gs) ?? []).find((each) => each.includes(email));
      return row?.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    };
    expect(await rowOf('status=invited')).toContain('AGENT invited, not joined never');
    expect(await rowOf('status=invited&q=eve&role=AGENT')).toBeDefined();
    expect((await admin.get(to)).text).toMatch(/joined yet\. The invitation link works until <time/);
    const where = { tenantId: workspace.tenantId, usedAt: null };
    await api.prisma.invitation.updateMany({ where, data: { expiresAt: new Date(0) } });
    expect((await admin.get(to)).text).toContain('the invitation link expired on');
    await api.prisma.invitation.updateMany({ where, data: { expiresAt: new Date('2100-01-01') } });

    const password = `correct horse ${unique()} battery`;
    expect((await openBrowser(api).submit(link, 'password', { username: email, password })).status).toBe(303);
    // A second invitation lets the user choose a new password, but the user has already joined.
    await admin.submit(to, 'invite');
    expect(await rowOf('status=invited')).toBeUndefined();
    expect(await rowOf('status=active')).toMatch(/AGENT active \d+ \w+ \d{4}/);
    expect((await admin.get(to)).text).toMatch(/<dt>Last sign-in<\/dt><dd><time/);
    const stranger = await signIn(api, await createWorkspace(api));
    expect((await stranger.get('/developer/users?status=invited')).text).toContain('No users match');
  });
});

describe('/developer/users/new', () => {
  it('creates a user in the developer area and shows the invitation link once', async () => {
    const email = `${unique()}@example.com`;
    const sent = await admin.submit('/developer/users/new', 'create', { name: 'Ida', email, role: 'AGENT' });
    expect(sent.status).toBe(303);
    const to = sent.headers.location ?? '';
    const link = linkIn((await admin.get(to)).text);
    expect(link).toBeDefined();
    expect(linkIn((await admin.get(to)).text)).toBeUndefined();

    const ida = openBrowser(api);
    const password = `correct horse ${unique()} battery`;
    expect((await ida.submit(link ?? '', 'password', { username: email, password })).status).toBe(303);
    expect((await ida.get('/developer/account')).text).toContain(email);
    // Users with the role AGENT may not open the list of users.
    expect((await ida.get('/developer/users')).status).toBe(403);
  });

  it('creates no invitation link for a user with the role REQUESTER', async () => {
    const fields = { name: 'Rob', email: `${unique()}@example.com`, role: 'REQUESTER' };
    const { text } = await admin.submitAndFollow('/developer/users/new', 'create', fields);
    expect(text).toContain('Rob');
    expect(linkIn(text)).toBeUndefined();
  });

  it('shows user form errors next to the fields and keeps the entered values', async () => {
    const taken = await workspace.createUser();
    const name = '<script>alert("x")</script>';
    const { status, text } = await admin.submit('/developer/users/new', 'create', {
      ...{ name, email: taken.email, role: 'ADMIN' },
    });
    expect(status).toBe(400);
    expect(text).toContain(`id="error-email">${taken.email} is already used by another user`);
    expect(text).toContain('value="&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('<option value="ADMIN" selected>');
  });
});

describe('/developer/users/new-service-account', () => {
  it('creates a service account that has no invitation, and records only its id in the audit log', async () => {
    const fields = { name: 'Nightly export', email: `${unique()}@example.com` };
    const { text } = await admin.submitAndFollow('/developer/users/new-service-account', 'create', fields);
    expect(text).toContain('Service account');
    expect([linkIn(text), text.includes('form-invite')]).toEqual([undefined, false]);
    const { data } = await listUsers(workspace.context, { page: 1, perPage: 1, email: [fields.email] });
    const [account] = data;
    const path = `/developer/users/${account?.id}`;
    expect(account).toMatchObject({ kind: 'SERVICE', role: 'AGENT', active: true });
    const entries = await listAudit(workspace.context, { page: 1, perPage: 1, action: 'user.created' });
    expect(entries.data).toMatchObject([
      { targetId: account?.id, subject: null, changes: { kind: { to: 'SERVICE' } } },
    ]);

    const taken = await admin.submit('/developer/users/new-service-account', 'create', fields);
    expect([taken.status, taken.text.includes('is already used by another user')]).toEqual([400, true]);
    const invited = await admin.submit(path, 'invite');
    expect([invited.status, await api.prisma.invitation.count({ where: { userId: account?.id } })]).toEqual([400, 0]);
    const promoted = await admin.submit(path, 'change', { ...details, etag: await etagOf(admin, path), role: 'ADMIN' });
    expect([promoted.status, promoted.text.includes('must be AGENT')]).toEqual([400, true]);
    expect((await admin.get('/developer/users')).text).toContain('service account</span>');
  });

  it('rejects the sign-in, the session and the invitation of a service account', async () => {
    const { id, email } = await workspace.createUser({ kind: 'SERVICE' });
    // Inserts the credentials with SQL, because the server never creates them.
    const password = `correct horse ${unique()} battery`;
    const data = { tenantId: workspace.tenantId, userId: BigInt(id) };
    await api.prisma.password.create({ data: { ...data, hash: await hashPassword(password) } });
    const browser = openBrowser(api);
    const signedIn = await browser.submit('/developer/sign-in', 'password', { email, password });
    expect([signedIn.status, signedIn.text.includes('is incorrect')]).toEqual([400, true]);
    const visitor = await signIn(api, { tenantId: workspace.tenantId, userId: id }).catch(() => undefined);
    expect((await visitor?.get('/developer/keys'))?.status ?? 303).toBe(303);
    const { text: token, hash } = newToken(workspace.tenantId);
    await api.prisma.invitation.create({ data: { ...data, hash, expiresAt: new Date(Date.now() + 60_000) } });
    const joined = await browser.get(`/developer/join?token=${token}`);
    expect(joined.text).not.toContain(email);
  });
});

describe('/developer/users/:id', () => {
  it('changes, invites, deactivates and reactivates a user in the developer area', async () => {
    const user = await workspace.createUser({ name: 'Ada' });
    const path = `/developer/users/${user.id}`;
    const etag = await etagOf(admin, path);
    const change = { ...details, etag, role: 'ADMIN' };
    const { text } = await admin.submitAndFollow(path, 'change', {
      ...{ ...change, jobTitle: 'Lead', timeZone: 'Europe/Berlin' },
    });
    expect(text).toContain('value="Lead"');
    expect(await getUser(workspace.context, user.id)).toMatchObject({ role: 'ADMIN', timeZone: 'Europe/Berlin' });
    expect((await admin.submit(path, 'change', change)).status).toBe(412);
    const wrong = await admin.submit(path, 'change', { ...change, timeZone: '+01:00' });
    expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('must be the IANA name of a time zone') });

    const link = linkIn((await admin.submitAndFollow(path, 'invite')).text);
    expect(link).toBeDefined();
    const theirs = await signIn(api, { tenantId: workspace.tenantId, userId: user.id });
    expect((await admin.get(path)).text).toContain('Deactivate');
    await admin.submitAndFollow(path, 'deactivate');
    await expect.poll(async () => (await theirs.get('/developer/users')).status).toBe(303);
    expect((await getUser(workspace.context, user.id)).active).toBe(false);
    expect((await admin.submitAndFollow(path, 'activate')).text).toContain('Deactivate');
  });

  it('erases a user, and lists the tickets and comments that contain the name once', async () => {
    const { id, email } = await workspace.createUser({ name: 'Edna Erasable' });
    const path = `/developer/users/${id}`;
    const theirs = await signIn(api, { tenantId: workspace.tenantId, userId: id });
    const ticket = await workspace.createTicket({ title: "Edna Erasable's laptop" });
    const comment = await workspace.createComment(ticket.id, { body: `Sent to ${email}.` });
    const rejected = await admin.submit(path, 'erase', { confirmation: 'Edna' });
    expect([rejected.status, rejected.text.includes(`must be the email address of the user: ${email}`)]).toEqual([
      400,
      true,
    ]);
    const token = await admin.tokenOf(path);
    const { status, text } = await admin.submit(path, 'erase', { confirmation: email }, token);
    expect(status).toBe(200);
    expect(text).toContain(`<a href="/developer/tickets/${ticket.id}">${ticket.ticketNumber}</a>`);
    expect(text).toContain(
      `<a href="/developer/tickets/${ticket.id}">Comment ${comment.id} of ticket ${ticket.id}</a>`,
    );
    expect(text).toContain(`<h1>Erased user ${id}</h1>`);
    expect(text).not.toContain('Edna');
    expect((await theirs.get('/developer/keys')).status).toBe(303);
    const erased = await admin.get(path);
    expect(erased.text).toContain('The personal data of this user was erased.');
    expect(erased.text).not.toMatch(/shown only once|<form/);
    const again = await admin.submit(path, 'erase', { confirmation: email }, token);
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining('The personal data of this user was') });
    await expect(activateUser(workspace.context, id)).rejects.toThrow('This user was erased.');
    await expect(updateUser(workspace.context, id, { name: 'Edna', email })).rejects.toThrow('This user was erased.');
    expect(await getUser(workspace.context, id)).toMatchObject({ name: `Erased user ${id}`, active: false });
  });

  it('revokes the API keys of a deactivated or demoted user, unless the administrator keeps the keys', async () => {
    const path = (id: number) => `/developer/users/${id}`;
    const works = async (key: string) =>
      (await api.call({ method: 'GET', path: `${pathPrefix}/users`, key })).status === 200;
    const demote = async (id: number, role: UserRole, more: Fields = {}) =>
      admin.submit(path(id), 'change', { ...details, etag: await etagOf(admin, path(id)), role, ...more });
    const demoted = await createUserWithKey('ADMIN');
    const demotedAndKept = await createUserWithKey('ADMIN');
    const promoted = await createUserWithKey('AGENT');
    const deactivated = await createUserWithKey('AGENT');
    const kept = await createUserWithKey('AGENT');

    const page = (await admin.get(path(deactivated.id))).text;
    expect(page.match(new RegExp(`…${deactivated.key.slice(-4)}`, 'g'))).toHaveLength(2);
    expect((await demote(demoted.id, 'AGENT')).status).toBe(303);
    expect((await demote(demotedAndKept.id, 'REQUESTER', { keepKeys: 'yes' })).status).toBe(303);
    expect((await demote(promoted.id, 'ADMIN')).status).toBe(303);
    await admin.submitAndFollow(path(deactivated.id), 'deactivate');
    await admin.submitAndFollow(path(kept.id), 'deactivate', { keepKeys: 'yes' });
    await admin.submitAndFollow(path(deactivated.id), 'activate');
    await admin.submitAndFollow(path(kept.id), 'activate');
    const all = [demoted, demotedAndKept, promoted, deactivated, kept];
    await expect.poll(() => Promise.all(all.map(({ key }) => works(key)))).toEqual([false, true, true, false, true]);
    const entries = await listAudit(workspace.context, { page: 1, perPage: 50, action: 'key.revoked' });
    expect(entries.data).toMatchObject([{ userId: Number(workspace.userId) }, { address: '127.0.0.1' }]);
  });

  it('revokes the new API key if the user is deactivated during the key rotation', async () => {
    const { id, keyId } = await createUserWithKey('ADMIN');
    const held = new pg.Client({ connectionString: api.databaseUrl });
    await held.connect();
    await held.query('BEGIN');
    await held.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [keyId]);
    const rotated = rotateKey(workspace.context, keyId, { overlapHours: 24 });
    await expect.poll(() => requestsWaiting(api, 'system')).toBe(1);
    const deactivated = deactivateUser(workspace.context, id);
    await expect.poll(() => requestsWaiting(api, 'system')).toBe(2);
    await held.end();
    const successor = await rotated;
    await deactivated;
    expect((await getKey(workspace.context, successor.id)).state).toBe('revoked');
  });

  it('rejects the demotion or deactivation of the last administrator, except from the command line', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const path = `/developer/users/${own.userId}`;
    const message = 'This is the last active administrator of the workspace';
    const etag = await etagOf(visitor, path);
    const demoted = await visitor.submit(path, 'change', { ...details, etag, role: 'AGENT' });
    expect(demoted).toMatchObject({ status: 400, text: expect.stringContaining(message) });
    const deactivated = await visitor.submit(path, 'deactivate');
    expect(deactivated).toMatchObject({ status: 400, text: expect.stringContaining(message) });
    expect(await getUser(own.context, own.userId)).toMatchObject({ role: 'ADMIN', active: true });

    const operator = { ...own.context, userId: undefined };
    expect(await deactivateUser(operator, own.userId)).toMatchObject({ active: false });
  });

  it('keeps at least one administrator if two administrators demote each other concurrently', async () => {
    for (let round = 0; round < 3; round++) {
      const own = await createWorkspace(api);
      const other = await own.createUser({ role: 'ADMIN' });
      const [one, two] = [await signIn(api, own), await signIn(api, { tenantId: own.tenantId, userId: other.id })];
      // Both administrators open each other's page before either of them submits the form.
      const demoting = async (visitor: Visitor, path: string) => {
        const fields = {
          ...details,
          role: 'AGENT',
          _csrf: await visitor.tokenOf(path),
          etag: await etagOf(visitor, path),
        };
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        return () => visitor.post(`${path}?form=change`, new URLSearchParams(fields).toString(), headers);
      };
      const forms = [
        await demoting(one, `/developer/users/${other.id}`),
        await demoting(two, `/developer/users/${own.userId}`),
      ];
      const responses = await Promise.all(forms.map((send) => send()));
      expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
      const users = await Promise.all([own.userId, other.id].map((id) => getUser(own.context, id)));
      expect(users.map(({ role }) => role).sort()).toEqual(['ADMIN', 'AGENT']);
    }
  });

  it('escapes the name and the job title of a user', async () => {
    const { id } = await workspace.createUser({ name: '<script>alert(1)</script>' });
    await updateUser(workspace.context, id, { jobTitle: '"><img src=x onerror=alert(1)>' });
    for (const path of ['/developer/users', `/developer/users/${id}`]) {
      const { text } = await admin.get(path);
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(text).not.toMatch(/<script>alert|<img/);
    }
  });
});
