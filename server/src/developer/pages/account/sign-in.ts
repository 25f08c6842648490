import { NewUser } from '@itsm-api/contract';
import * as z from 'zod';
import { type Account, findAccount } from '../../../auth/accounts/account.ts';
import { authenticationOptions, hasPasskey, signInByPasskey } from '../../../auth/accounts/passkeys.ts';
import { hasSamePassword, type PasswordSignIn, signInByPassword } from '../../../auth/accounts/password-sign-in.ts';
import { ApiError } from '../../../shared/errors.ts';
import { tenantIdToJson } from '../../../shared/tenant-id.ts';
import { openForm, openPage } from '../../framework/page.ts';
import type { RequestContext } from '../../framework/request-context.ts';
import { signInAccount } from '../../framework/sign-in-session.ts';
import { renderForm, submit, textField } from '../../ui/form-fields.ts';
import { html } from '../../ui/html.ts';
import { overviewPath } from '../overview/overview-page.ts';

const Query = z.object({ next: z.string().optional().catch(undefined) });

/** The sign-in page, for passkeys and passwords. */
export const signIn = openPage({
  path: '/developer/sign-in',
  query: Query,
  async show(request) {
    const { visit, query } = request;
    if (visit.user !== undefined) return { redirect: getNextPath(query) };
    const options = await authenticationOptions(visit.site);
    visit.browser.addChallenge(options.challenge);
    const passkey = renderForm(
      request,
      'passkey',
      () => html`<p class="hint" data-only-script hidden>Use the passkey for this workspace on this device or on your
 security key.</p>${submit('Sign in with a passkey')}<noscript><p class="hint">Passkeys need JavaScript,
 which is off in this browser.</p></noscript>`,
      { passkey: { what: 'get', options } },
    );
    const password = renderForm(
      request,
      'password',
      (
        sent,
      ) => html`${textField(sent, { name: 'email', label: 'Email address', type: 'email', autocomplete: 'username', required: true })}
${textField(sent, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true })}
${submit('Sign in', 'plain')}`,
    );
    return {
      title: 'Sign in',
      body: html`<p class="lead">Sign in to the developer area of your workspace.</p>${passkey}<p class="or"><span>or</span></p>${password}
<p class="hint">No account yet, or forgot your password? Ask an administrator of your workspace to create a link for you on the
 page <em>Users</em> or with <code>./itsm users invite</code>.</p>`,
    };
  },
  forms: {
    passkey: openForm({
      fields: z.object({ response: z.string().max(20_000) }),
      async run({ visit, fields, address }) {
        const { consumeChallenge } = visit.browser;
        const found = await signInByPasskey(visit.accounts, visit.site, { ...fields, ...visit.from, consumeChallenge });
        await signInAccount(visit, found.account, 'with a passkey', () => hasPasskey(visit.accounts, found));
        return { redirect: getNextPathOfAddress(address) };
      },
    }),
    password: openForm({
      fields: z.strictObject({ email: NewUser.shape.email, password: z.string().min(1, 'is required').max(1000) }),
      async run({ visit, fields, address }) {
        const { isKnown } = visit.browser;
        const all = await signInByPassword(visit.accounts, { ...fields, ...visit.from, isKnown });
        const [found] = all;
        if (found === undefined || all.length > 1) {
          visit.browser.offerAccounts(all);
          return { redirect: `/developer/workspaces?next=${encodeURIComponent(getNextPathOfAddress(address))}` };
        }
        await signInAccount(visit, found.account, 'with a password', () => hasSamePassword(visit.accounts, found));
        return { redirect: getNextPathOfAddress(address) };
      },
    }),
  },
});

/** The page where the user chooses a workspace if the email address and password match several accounts. */
export const workspaces = openPage({
  path: '/developer/workspaces',
  query: Query,
  async show(request) {
    const offers = await findOfferedAccounts(request.visit);
    if (offers.length === 0) return { redirect: '/developer/sign-in' };
    return {
      title: 'Choose a workspace',
      body: html`${renderForm(
        request,
        'choose',
        () =>
          html`<div class="choices">${offers.map(
            ({ account: { tenantId, workspace, name } }) =>
              html`<button type="submit" class="button plain" name="tenant" value="${tenantIdToJson(tenantId)}">${workspace} <small>as ${name}</small></button>`,
          )}</div>`,
      )}`,
    };
  },
  forms: {
    choose: openForm({
      fields: z.strictObject({ tenant: z.string() }),
      async run({ visit, fields, address }) {
        const found = (await findOfferedAccounts(visit)).find(
          ({ account }) => tenantIdToJson(account.tenantId) === fields.tenant,
        );
        if (found === undefined) throw new ApiError('VALIDATION_ERROR', 'The sign-in has expired. Sign in again.');
        await signInAccount(visit, found.account, 'with a password', () => hasSamePassword(visit.accounts, found));
        return { redirect: getNextPathOfAddress(address) };
      },
    }),
  },
});

async function findOfferedAccounts({
  browser,
  accounts,
}: RequestContext): Promise<(PasswordSignIn & { account: Account })[]> {
  const offers = await Promise.all(
    browser.offeredAccounts.map(async (offer) => ({ ...offer, account: await findAccount(accounts, offer.account) })),
  );
  return offers.flatMap(({ account, password }) => (account === undefined ? [] : [{ account, password }]));
}

/**
 * Returns the path that the browser opens after the sign-in. Accepts only pages of the developer area, to prevent open
 * redirects.
 */
function getNextPath({ next }: z.output<typeof Query>): string {
  const to = next?.startsWith('/developer/') ? URL.parse(next, 'http://area') : null;
  const own = to !== null && /^(?!.*\/\/)\/developer\/(?!sign-in|workspaces|join)/.test(to.pathname);
  return own ? to.pathname + to.search : overviewPath;
}

function getNextPathOfAddress(address: string): string {
  return getNextPath({ next: URL.parse(address, 'http://area')?.searchParams.get('next') ?? undefined });
}
