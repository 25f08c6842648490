import { deactivateUser, getUser, updateUser } from '@itsm-api/server/resources/users/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { openBrowser, signIn, stateOf, type Visitor } from '../support/visitor.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  admin = await signIn(api, workspace);
});
afterAll(() => api.close());

/** The link that a page shows. */
function linkIn(text: string): string | undefined {
  return /http:\/\/localhost(\/developer\/join\?token=[^<"]+)/.exec(text)?.[1];
}

const details = { name: 'Ada', jobTitle: '', department: '', phone: '', timeZone: '' };

describe('/developer/users', () => {
  it('lists users, by words, role and state', async () => {
    const name = `Zoë ${unique()}`;
    const { id } = await workspace.createUser({ name, role: 'REQUESTER' });
    const other = await workspace.createUser({ name: 'Somebody Else' });
    const found = async (query: string) => {
      const { status, text } = await admin.get(`/developer/users?${query}`);
      expect(status, text).toBe(200);
      return [id, other.id].filter((each) => text.includes(`/developer/users/${each}"`));
    };
    expect(await found('')).toEqual([id, other.id]);
    expect(await found(new URLSearchParams({ q: name, role: '', active: '' }).toString())).toEqual([id]);
    expect(await found('role=AGENT&active=true')).toEqual([other.id]);
    expect(await found('active=false')).toEqual([]);
    expect((await admin.get('/developer/users?q=%2B')).text).toContain('must hold a letter or a digit');
  });
});

describe('/developer/users/new', () => {
  it('makes a user, and shows once the link by which they get in', async () => {
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
    // What an AGENT has no entry to.
    expect((await ida.get('/developer/users')).status).toBe(403);
  });

  it('makes no link for a REQUESTER', async () => {
    const fields = { name: 'Rob', email: `${unique()}@example.com`, role: 'REQUESTER' };
    const { text } = await admin.submitAndFollow('/developer/users/new', 'create', fields);
    expect(text).toContain('Rob');
    expect(linkIn(text)).toBeUndefined();
  });

  it('says beside the field what is wrong, and keeps what was typed', async () => {
    const taken = await workspace.createUser();
    const name = '<script>alert("x")</script>';
    const { status, text } = await admin.submit('/developer/users/new', 'create', {
      ...{ name, email: taken.email, role: 'ADMIN' },
    });
    expect(status).toBe(400);
    expect(text).toContain(`id="error-email">${taken.email} is taken by another user`);
    expect(text).toContain('value="&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('<option value="ADMIN" selected>');
  });
});

describe('/developer/users/:id', () => {
  it('changes what a user is, invites them anew, and lets them in no more', async () => {
    const user = await workspace.createUser({ name: 'Ada' });
    const path = `/developer/users/${user.id}`;
    const state = await stateOf(admin, path);
    const change = { ...details, state, role: 'ADMIN' };
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
    await expect.poll(async () => (await theirs.get('/developer/users')).status, { timeout: 5000 }).toBe(303);
    expect((await getUser(workspace.context, user.id)).active).toBe(false);
    expect((await admin.submitAndFollow(path, 'activate')).text).toContain('Deactivate');
  });

  it('keeps the last administrator, whom the command line may take away', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const path = `/developer/users/${own.userId}`;
    const told = 'This is the last active administrator of the workspace';
    const state = await stateOf(visitor, path);
    const demoted = await visitor.submit(path, 'change', { ...details, state, role: 'AGENT' });
    expect(demoted).toMatchObject({ status: 400, text: expect.stringContaining(told) });
    const deactivated = await visitor.submit(path, 'deactivate');
    expect(deactivated).toMatchObject({ status: 400, text: expect.stringContaining(told) });
    expect(await getUser(own.context, own.userId)).toMatchObject({ role: 'ADMIN', active: true });

    const operator = { ...own.context, userId: undefined };
    expect(await deactivateUser(operator, own.userId)).toMatchObject({ active: false });
  });

  it('keeps one of two administrators who take the right from each other at once', async () => {
    for (let round = 0; round < 3; round++) {
      const own = await createWorkspace(api);
      const other = await own.createUser({ role: 'ADMIN' });
      const [one, two] = [await signIn(api, own), await signIn(api, { tenantId: own.tenantId, userId: other.id })];
      // The form of a page that was open before either of them was sent.
      const demoting = async (visitor: Visitor, path: string) => {
        const fields = {
          ...details,
          role: 'AGENT',
          _csrf: await visitor.tokenOf(path),
          state: await stateOf(visitor, path),
        };
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        return () => visitor.post(`${path}?form=change`, new URLSearchParams(fields).toString(), headers);
      };
      const forms = [
        await demoting(one, `/developer/users/${other.id}`),
        await demoting(two, `/developer/users/${own.userId}`),
      ];
      const answers = await Promise.all(forms.map((send) => send()));
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
      const users = await Promise.all([own.userId, other.id].map((id) => getUser(own.context, id)));
      expect(users.map(({ role }) => role).sort()).toEqual(['ADMIN', 'AGENT']);
    }
  });

  it('shows a name as text', async () => {
    const { id } = await workspace.createUser({ name: '<script>alert(1)</script>' });
    await updateUser(workspace.context, id, { jobTitle: '"><img src=x onerror=alert(1)>' });
    for (const path of ['/developer/users', `/developer/users/${id}`]) {
      const { text } = await admin.get(path);
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(text).not.toMatch(/<script>alert|<img/);
    }
  });
});
