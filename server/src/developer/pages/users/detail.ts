import { IdParam, NewUser, type User, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { createInvitation } from '../../../auth/accounts/invitations.ts';
import { findSignInStatus, type SignInStatus } from '../../../auth/accounts/sign-in-status.ts';
import { eraseUser } from '../../../resources/privacy/erasure.ts';
import { findMentions, type Mentions } from '../../../resources/privacy/mentions.ts';
import { listUserKeys, type UserKey } from '../../../resources/users/key-revocation.ts';
import { getUser, isErased } from '../../../resources/users/queries.ts';
import { TimeZone } from '../../../resources/users/time-zone.ts';
import { activateUser, createUser, deactivateUser, updateUser } from '../../../resources/users/user-management.ts';
import { invalidField } from '../../../shared/errors.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkbox, checked, emptyAsNull, renderForm, selectField, submit, textField } from '../../ui/form-fields.ts';
import { badge, code, facts, html, notice, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/users';
const roles = ['ADMIN'] as const;

/** The select field for a user's role. */
const role = {
  ...{
    name: 'role',
    label: 'Role',
    options: ['AGENT', 'ADMIN', 'REQUESTER'].map((value) => ({ value, label: value })),
  },
  hint: "An ADMIN manages the workspace. An AGENT sees their own API keys and deliveries. A REQUESTER can't open the developer area.",
};

/** The page that creates a user and shows the invitation link. */
export const newUser = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const fields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'name', label: 'Name', required: true })}
${textField(sent, { name: 'email', label: 'Email', type: 'email', required: true })}
${selectField(sent, role)}
${submit('Invite')}`;
    return {
      title: 'Invite a user',
      body: html`<p class="lead">You get a link to send to the user. It works once, for a week. The user opens it to choose how to sign in.</p>
${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: z.strictObject({ name: NewUser.shape.name, email: NewUser.shape.email, role: UserRole }),
      audit: 'user.created',
      async run({ visit, fields }) {
        const user = await createUser(visit.context, fields);
        return inviteUser(visit, user);
      },
    }),
  },
});

/** The page that creates a service account. */
export const newServiceAccount = page({
  path: `${path}/new-service-account`,
  roles,
  async show(request) {
    const hint = 'The person or team to contact about the program. No other user can have this address.';
    const fields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'name', label: 'Name', hint: 'The program, such as "Nightly export".', required: true })}
${textField(sent, { name: 'email', label: 'Contact email', hint, type: 'email', required: true })}
${submit('Create service account')}`;
    return {
      title: 'Create a service account',
      body: html`<p class="lead">A service account is a user for programs, so that their API keys keep working when people leave. It has
the role AGENT and can't sign in.</p>
${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: z.strictObject({ name: NewUser.shape.name, email: NewUser.shape.email }),
      audit: 'user.created',
      async run({ visit, fields }) {
        const { id } = await createUser(visit.context, { ...fields, role: 'AGENT', kind: 'SERVICE' });
        return { redirect: `${path}/${id}`, confirmation: `Service account created: user ${id}` };
      },
    }),
  },
});

/** The page of a user, with forms that change the user and the user's access. */
export const user = page({
  path: `${path}/:id`,
  roles,
  params: IdParam,
  async show(request) {
    const { visit, params } = request;
    const user = await getUser(visit.context, params.id);
    const keys = await listUserKeys(visit.context, user.id);
    const signIn = (await findSignInStatus(visit.accounts, visit.user.account.tenantId, [user.id])).get(user.id);
    return {
      title: user.name,
      body: html`<p><a href="${path}">All users</a></p>
${linkNotice(visit.flash)}${mentionsNotice(request.sent.erase?.found as Mentions | undefined)}
${facts({
  Email: user.email,
  Kind: user.kind === 'SERVICE' ? 'Service account' : null,
  Status: renderStatus(user, signIn),
  'Last sign-in': canSignIn(user) ? visit.time(signIn?.lastSignInAt ?? null) : null,
  Created: visit.time(user.createdAt),
  Updated: visit.time(user.updatedAt),
})}
${invitationNotice(visit, user, signIn)}
${
  isErased(user)
    ? html`<p>The personal data of this user was erased. The user can't be changed or activated.</p>`
    : html`${section(
        'Details',
        renderForm(request, 'change', (sent) => details(sent, user, keys)),
      )}
${section('Access', access(request, user, keys))}
${section('Personal data', erasure(request))}`
}`,
    };
  },
  forms: {
    change: form({
      params: IdParam,
      fields: z.strictObject({
        name: NewUser.shape.name,
        role: UserRole,
        jobTitle: emptyAsNull(NewUser.shape.jobTitle),
        department: emptyAsNull(NewUser.shape.department),
        phone: emptyAsNull(NewUser.shape.phone),
        timeZone: emptyAsNull(TimeZone),
        etag: Etag,
        keepKeys: checked,
      }),
      audit: 'user.updated',
      async run({ visit, params, fields: { etag, keepKeys, ...fields } }) {
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) =>
            updateUser(context, params.id, fields, { keepKeys }),
          ),
        );
      },
    }),
    deactivate: form({
      params: IdParam,
      fields: z.strictObject({ keepKeys: checked }),
      audit: 'user.deactivated',
      run: async ({ visit, params, fields: { keepKeys } }) =>
        toResult(await deactivateUser(visit.context, params.id, { keepKeys })),
    }),
    activate: form({
      params: IdParam,
      fields: z.strictObject({}),
      audit: 'user.activated',
      run: async ({ visit, params }) => toResult(await activateUser(visit.context, params.id)),
    }),
    invite: form({
      params: IdParam,
      fields: z.strictObject({}),
      audit: 'user.invited',
      run: async ({ visit, params }) => inviteUser(visit, await getUser(visit.context, params.id)),
    }),
    erase: form({
      params: IdParam,
      fields: z.strictObject({ confirmation: z.string() }),
      audit: 'user.erased',
      ofAccount: true,
      async check({ visit, params, fields: { confirmation } }) {
        const user = await getUser(visit.context, params.id);
        // A browser can send the form again.
        if (isErased(user)) return undefined;
        if (confirmation.trim().toLowerCase() !== user.email) {
          throw invalidField(
            'VALIDATION_ERROR',
            'confirmation',
            `must be the email address of the user: ${user.email}`,
          );
        }
        return findMentions(visit.context, user);
      },
      async run({ visit, params, checked }) {
        await eraseUser(visit.context, params.id);
        return { found: checked };
      },
    }),
  },
});

function details(sent: FormState | undefined, user: User, keys: UserKey[]): SafeHtml {
  const { name, jobTitle, department, phone, timeZone } = user;
  const isService = user.kind === 'SERVICE';
  return html`${etagField(user)}${textField(sent, { name: 'name', label: 'Name', value: name, required: true })}
${isService ? html`<input type="hidden" name="role" value="AGENT">` : selectField(sent, { ...role, value: user.role })}
${isService || user.role === 'REQUESTER' ? null : keysField(sent, keys, "A role with fewer permissions revokes this user's API keys:")}
${textField(sent, { name: 'jobTitle', label: 'Job title', value: jobTitle })}
${textField(sent, { name: 'department', label: 'Department', value: department })}
${textField(sent, { name: 'phone', label: 'Phone', value: phone })}
${textField(sent, { name: 'timeZone', label: 'Time zone', value: timeZone, hint: 'The developer area shows times to this user in this time zone, such as Europe/Berlin.' })}
${submit('Save')}`;
}

/** Renders the API keys that a change to the user would revoke, and a checkbox for keeping them. */
function keysField(sent: FormState | undefined, keys: UserKey[], what: string): SafeHtml | null {
  if (keys.length === 0) return null;
  const items = keys.map(
    ({ id, name, lastFour }) => html`<li><a href="/developer/keys/${id}">${name}</a> <code>…${lastFour}</code></li>`,
  );
  return html`<p>${what}</p><ul>${items}</ul>
${checkbox('keepKeys', 'yes', 'Keep these API keys', sent !== undefined && 'keepKeys' in sent.values)}`;
}

function access(request: PageRequest<UserContext>, user: User, keys: UserKey[]): SafeHtml {
  if (!user.active) {
    return html`<p>This user can't sign in, their API keys don't work, and nothing can be assigned to them.</p>
${renderForm(request, 'activate', () => submit('Activate', 'plain'))}`;
  }
  const deactivation = (sent: FormState | undefined) => html`
${keysField(sent, keys, "Deactivation revokes this user's API keys. Keys that you keep work again after you activate the user:")}
${submit('Deactivate', 'danger')}`;
  const invite = html`<p>A new link lets the user choose a new way to sign in. Earlier links stop working.</p>
${renderForm(request, 'invite', () => submit('Create link', 'plain'))}`;
  const key = html`<p><a href="/developer/keys/new?user=${encodeURIComponent(user.email)}">Create an API key for this user</a></p>`;
  return html`${user.role === 'REQUESTER' || user.kind === 'SERVICE' ? null : invite}
${key}
<p>After deactivation, the user is signed out within a second, their API keys stop working, and nothing can be assigned to them.</p>
${renderForm(request, 'deactivate', deactivation)}`;
}

function erasure(request: PageRequest<UserContext>): SafeHtml {
  const fields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'confirmation', label: 'Email address of the user', hint: 'To confirm, enter the email address.' })}
${submit('Erase personal data', 'danger')}`;
  return html`<p>Replaces the name and the email address. Deletes the other personal fields, the passkeys, password,
sessions and invitations. Deactivates the user and revokes the API keys. You can't undo this. Tickets and comments that
contain the name or the email address don't change. The next page lists them, only once.</p>
${renderForm(request, 'erase', fields)}`;
}

/** Renders the tickets, comments and attachments that contain the name or the email address of an erased user. */
function mentionsNotice(mentions: Mentions | undefined): SafeHtml | null {
  if (mentions === undefined) return null;
  const { tickets, comments, attachments, isCapped } = mentions;
  const link = (id: number, text: string) => html`<li><a href="/developer/tickets/${id}">${text}</a></li>`;
  const items = [
    ...tickets.map(({ id, ticketNumber }) => link(id, ticketNumber)),
    ...comments.map(({ id, ticketId }) => link(ticketId, `Comment ${id} of ticket ${ticketId}`)),
    ...attachments.map(({ id, ticketId }) => link(ticketId, `Attachment ${id} of ticket ${ticketId}`)),
  ];
  if (items.length === 0)
    return notice('User erased. No ticket, comment or file name contains the name or the email address.');
  return notice(html`<p>User erased. These tickets, comments and attachments contain the name or the email address. To
redact them, open the tickets. This list is shown only once.${isCapped ? ' More tickets match.' : ''}</p><ul>${items}</ul>`);
}

/** Renders a badge: `active`, `inactive`, or `invited, not joined` for an active user who hasn't joined. */
export function renderStatus({ active }: User, signIn: SignInStatus | undefined): SafeHtml {
  if (!active) return badge('inactive');
  return signIn?.invitedUntil == null ? badge('active', 'good') : badge('invited, not joined', 'warn');
}

/** Returns true if users of this kind and role can sign in to the developer area. */
export function canSignIn({ kind, role }: User): boolean {
  return kind === 'PERSON' && role !== 'REQUESTER';
}

/** Renders when the invitation link of a user who hasn't joined expires, unless the page shows the link. */
function invitationNotice({ context, flash, time }: UserContext, { active }: User, signIn: SignInStatus | undefined) {
  if (!active || signIn?.invitedUntil == null || flash !== undefined) return null;
  const { invitedUntil } = signIn;
  return new Date(invitedUntil) > context.now()
    ? notice(html`<p>The user hasn't joined yet. The invitation link works until ${time(invitedUntil)}.</p>`, 'warn')
    : notice(
        html`<p>The user hasn't joined, and the invitation link expired on ${time(invitedUntil)}. Create a new link below.</p>`,
        'warn',
      );
}

function toResult({ id, email }: User) {
  return { redirect: `${path}/${id}`, subject: email };
}

/**
 * Returns a redirect to the page of the user, which shows a new invitation link once. Users with the role REQUESTER get
 * no link, because they can't open the developer area.
 */
async function inviteUser(visit: UserContext, user: User) {
  if (user.role === 'REQUESTER') return toResult(user);
  const token = await createInvitation(visit.context, user.id);
  return { ...toResult(user), flash: { link: `${visit.site.origin}/developer/join?token=${token}` } };
}

const Flash = z.object({ link: z.string() });

function linkNotice(flash: unknown): SafeHtml | null {
  const { data } = Flash.safeParse(flash);
  if (data === undefined) return null;
  return notice(html`<p>Send this link to the user. It is shown only once and works once, for a week.</p>
${code(data.link, 'Invitation link')}`);
}
