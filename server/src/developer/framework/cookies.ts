import secureSession, { type Session as Cookie } from '@fastify/secure-session';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account, AccountStore } from '../../auth/accounts/account.ts';
import { useChallenge } from '../../auth/accounts/passkeys.ts';
import {
  beginSession,
  consumeFlash,
  findSession,
  type Origin,
  type Session,
  setFlash,
} from '../../auth/accounts/sessions.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import type { BrowserCookies } from './request-context.ts';

/** How long a challenge is valid. Users may need minutes to find their security key. Milliseconds. */
const challengeMs = 5 * 60_000;
/** Maximum number of open pages with a challenge each. */
const maxChallenges = 5;
/** Maximum number of accounts that the device cookie remembers. */
const maxKnownAccounts = 20;
const yearSeconds = 365 * 86_400;

type Reference = Pick<Account, 'tenantId' | 'userId'>;

interface Flash {
  /** The path of the page that shows the flash. */
  path: string;
  /** Identifies the flash in the row of the session, which records whether it was shown. */
  id: string;
  value: unknown;
  /** The sentence that confirms what the form did. */
  confirmation: string | undefined;
}

/** A challenge and when it expires, in milliseconds since 1970. */
type Challenge = [challenge: string, until: number];

interface Offered {
  /** The reference of each account, and a value that changes with its password. */
  found: [name: string, password: string][];
  /** When the offer expires. Milliseconds since 1970. */
  until: number;
}

declare module '@fastify/secure-session' {
  interface SessionData {
    /** Identifies the row of the session. */
    token: string;
    challenges: Challenge[];
    offered: Offered;
    flash: Flash | undefined;
    /** The accounts that have signed in with this browser. */
    known: string[];
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The cookie that remembers for a year which accounts have signed in with this browser. */
    device: Cookie;
  }
}

/**
 * Registers two encrypted `HttpOnly` cookies: `session` with the token of the session, and `device` with the accounts that
 * have signed in with this browser.
 * @param keys 32 bytes each; the first encrypts, all of them decrypt
 */
export async function addCookies(
  scope: FastifyInstance,
  { keys, secure }: { keys: Buffer[]; secure: boolean },
): Promise<void> {
  // Other hosts of the domain and plain HTTP can't set a cookie with this prefix (RFC 6265bis §4.1.3.2).
  const prefix = secure ? '__Host-' : '';
  const cookie = { path: secure ? '/' : '/developer', httpOnly: true, sameSite: 'lax', secure } as const;
  await scope.register(secureSession, [
    { sessionName: 'session', cookieName: `${prefix}itsm_session`, key: keys, expiry: 30 * 86_400, cookie },
    {
      sessionName: 'device',
      cookieName: `${prefix}itsm_device`,
      key: keys,
      expiry: yearSeconds,
      cookie: { ...cookie, maxAge: yearSeconds },
    },
  ]);
}

/** Returns the session of the request, or undefined if it has none or the session has ended. */
export function findCurrentSession(accounts: AccountStore, request: FastifyRequest): Promise<Session | undefined> {
  return findSession(accounts, request.session.get('token'));
}

/** Returns access to the cookies of the request. */
export function createBrowserCookies(accounts: AccountStore, request: FastifyRequest, from: Origin): BrowserCookies {
  const { session, device } = request;
  const getKnownAccounts = () => device.get('known') ?? [];
  const getChallenges = () => session.get('challenges') ?? [];
  return {
    async signIn(account) {
      const token = await beginSession(accounts, account, from);
      // Prevents session fixation: a planted session and its CSRF secret are replaced.
      session.regenerate();
      session.set('token', token);
      device.set('known', [...new Set([formatReference(account), ...getKnownAccounts()])].slice(0, maxKnownAccounts));
    },
    signOut: () => session.delete(),
    isKnown: (account) => getKnownAccounts().includes(formatReference(account)),
    addChallenge(challenge) {
      const newest: Challenge = [challenge, Date.now() + challengeMs];
      session.set('challenges', [newest, ...getChallenges()].slice(0, maxChallenges));
    },
    async takeChallenge(challenge) {
      const found = getChallenges().find(([each]) => each === challenge);
      session.set(
        'challenges',
        getChallenges().filter(([each]) => each !== challenge),
      );
      return found !== undefined && found[1] > Date.now() && (await useChallenge(accounts, challenge));
    },
    offerAccounts(all) {
      const found = all.map(({ account, password }): [string, string] => [formatReference(account), password]);
      session.set('offered', { found, until: Date.now() + challengeMs });
    },
    get offeredAccounts() {
      const { found = [], until = 0 } = session.get('offered') ?? {};
      return until < Date.now() ? [] : found.map(([name, password]) => ({ account: parseReference(name), password }));
    },
  };
}

/** Stores a flash in the cookie and its id in the session, so that a copied cookie can't show it again. */
export async function storeFlash(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, ...shown }: { session: Session } & Omit<Flash, 'id'>,
): Promise<void> {
  const id = crypto.randomUUID();
  await setFlash(accounts, session, id);
  request.session.set('flash', { ...shown, id });
}

/** Returns the stored flash if it belongs to the requested page. It may have been shown already. */
export function findFlash(request: FastifyRequest): Flash | undefined {
  const flash = request.session.get('flash');
  return flash?.path === request.url.split('?')[0] ? flash : undefined;
}

/** Consumes the flash. @returns whether it was not shown before */
export async function tryConsumeFlash(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, flash }: { session: Session; flash: Flash },
): Promise<boolean> {
  const may = await consumeFlash(accounts, session, flash.id);
  request.session.set('flash', undefined);
  return may;
}

function parseReference(name: string): Reference {
  const [tenantId = '', userId = ''] = name.split('.');
  return { tenantId: toTenantId(tenantId), userId: BigInt(userId) };
}

function formatReference({ tenantId, userId }: Reference): string {
  return `${tenantId}.${userId}`;
}
