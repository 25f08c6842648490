import * as z from 'zod';
import type { Account } from '../../../auth/accounts/account.ts';
import { deleteCredentials } from '../../../auth/accounts/credentials.ts';
import { findInvitation, type Invitation, useInvitation } from '../../../auth/accounts/invitations.ts';
import { checkPasskey, registrationOptions, savePasskey } from '../../../auth/accounts/passkeys.ts';
import { checkPassword, NewPassword, savePassword } from '../../../auth/accounts/password-sign-in.ts';
import { ApiError } from '../../../shared/errors.ts';
import { openForm, openPage } from '../../framework/page.ts';
import type { RequestContext } from '../../framework/request-context.ts';
import { signInAccount } from '../../framework/sign-in-session.ts';
import { renderForm, submit, textField } from '../../ui/form-fields.ts';
import { html, notice } from '../../ui/html.ts';
import { overviewPath } from '../overview/overview-page.ts';

/**
 * The page that an invitation link opens, where the user chooses a sign-in method. Opening the page changes nothing,
 * because mail scanners open links. The link becomes invalid when the user sets up a sign-in method or skips that step.
 */
export const join = openPage({
  path: '/developer/join',
  query: z.object({ token: z.string().catch('') }),
  async show(request) {
    const { visit, query } = request;
    const invitation = await findValidInvitation(visit, query.token);
    if (invitation === undefined) {
      return {
        title: 'This link is no longer valid',
        body: html`<p class="lead">It was already used, is older than a week, or was replaced by a newer link.</p>
<p>If you already have a passkey or a password, <a href="/developer/sign-in">sign in</a>. Otherwise, ask an administrator of your workspace for a new link.</p>`,
      };
    }
    const { account, demo, secured } = invitation;
    const options = await registrationOptions(visit.accounts, visit.site, account, { replacesOthers: true });
    visit.browser.addChallenge(options.challenge);
    const passkey = renderForm(
      request,
      'passkey',
      () => html`<p class="hint">Use a fingerprint, your face, the PIN of this device or a security key.
 There is no password to remember or to leak.<noscript> Passkeys need JavaScript, which is off in this browser.</noscript></p>
${submit('Create a passkey')}`,
      { passkey: { what: 'create', options } },
    );
    const password = renderForm(
      request,
      'password',
      (sent) => html`<input type="hidden" name="username" autocomplete="username" value="${account.email}">
${textField(sent, { name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', required: true, hint: 'At least 12 characters. A few random words are easy to remember and hard to guess.' })}
${submit('Set password', 'plain')}`,
    );
    const skip = renderForm(
      request,
      'skip',
      () => html`<p class="hint">This is the demo workspace of a server on this machine. You can set up
 sign-in later.</p>${submit('Skip for now', 'plain')}`,
    );
    return {
      title: `Welcome, ${account.name}`,
      body: html`<p class="lead">You are invited to the developer area of <strong>${account.workspace}</strong>, as
 ${account.email}. Choose how to sign in.</p>
${secured ? notice('Your current passkeys and password stop working, and all other sessions end.') : null}
${passkey}<p class="or"><span>or</span></p>${password}${demo ? html`<p class="or"><span>or</span></p>${skip}` : null}`,
    };
  },
  forms: {
    passkey: openForm({
      fields: z.object({ response: z.string().max(20_000) }),
      run: ({ visit, fields, address }) =>
        acceptInvitation(visit, address, 'with a new passkey', async (account) => {
          const { consumeChallenge } = visit.browser;
          const passkey = await checkPasskey(visit.site, { ...fields, consumeChallenge });
          return () => savePasskey(visit.accounts, account, { ...passkey, name: toPasskeyName(visit) });
        }),
    }),
    password: openForm({
      fields: z.object({ password: NewPassword }),
      run: ({ visit, fields: { password }, address }) =>
        acceptInvitation(visit, address, 'with a new password', async (account) => {
          const hash = await checkPassword(account, password);
          return () => savePassword(visit.accounts, account, hash);
        }),
    }),
    skip: openForm({
      fields: z.object({}),
      run: ({ visit, address }) =>
        acceptInvitation(visit, address, 'with the first-start link', async (_account, demo) => {
          if (!demo) throw new ApiError('NOT_FOUND', 'This form does not exist. Reload the page and try again.');
        }),
    }),
  },
});

/**
 * Returns the invitation for a token, or undefined if the invitation is invalid. The invitation link of the demo
 * workspace is valid only on the server's machine.
 */
async function findValidInvitation(visit: RequestContext, token: string): Promise<Invitation | undefined> {
  const invitation = await findInvitation(visit.accounts, token);
  return invitation?.demo === true && !visit.isLocal ? undefined : invitation;
}

/**
 * Accepts an invitation. Invalidates the link, stores the chosen credential and signs the user in. If the user chose a
 * credential, ends all sessions of the account and deletes all earlier credentials, because the user may have lost
 * them.
 * @param check validates the credential before the link becomes invalid, and returns a function that stores it
 */
async function acceptInvitation(
  visit: RequestContext,
  address: string,
  how: string,
  check: (account: Account, demo: boolean) => Promise<(() => Promise<void>) | void>,
) {
  const token = URL.parse(address, 'http://area')?.searchParams.get('token') ?? '';
  const invitation = await findValidInvitation(visit, token);
  if (invitation === undefined) throw invalidLink();
  const { account, demo } = invitation;
  const saveCredential = await check(account, demo);
  await signInAccount(visit, account, how, async () => {
    if (!(await useInvitation(visit.accounts, token))) throw invalidLink();
    if (saveCredential !== undefined) {
      await deleteCredentials(visit.accounts, account);
      await saveCredential();
    }
    return true;
  });
  return { redirect: overviewPath };
}

function invalidLink(): ApiError {
  return new ApiError(
    'VALIDATION_ERROR',
    'This link is no longer valid. Ask an administrator of your workspace for a new link.',
  );
}

/** Returns a name for a new passkey. The name contains the operating system from the user agent. */
export function toPasskeyName({ from }: RequestContext): string {
  const [system] = /iPhone|iPad|Android|Mac OS X|Windows|CrOS|Linux/.exec(from.userAgent) ?? ['an unknown device'];
  return `Created on ${system.replace('Mac OS X', 'macOS').replace('CrOS', 'ChromeOS')}`;
}
