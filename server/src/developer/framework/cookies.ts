import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account, AccountStore } from '../../auth/accounts/account.ts';
import { useChallenge } from '../../auth/accounts/passkeys.ts';
import { beginSession, consumeFlash, findSession, type Session, setFlash } from '../../auth/accounts/sessions.ts';
import type { Origin } from '../../shared/actor.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import { addEncryptedCookies } from './encrypted-cookies.ts';
import type { BrowserCookies } from './request-context.ts';

/** How many milliseconds a passkey challenge is valid. Users may need minutes to find their security key. */
const challengeMs = 5 * 60_000;
/** Maximum number of stored passkey challenges. Each open page with a passkey form needs one challenge. */
const maxChallenges = 5;
/** Maximum number of accounts that the cookie `device` stores. */
const maxKnownAccounts = 20;
const yearSeconds = 365 * 86_400;

type Reference = Pick<Account, 'tenantId' | 'userId'>;

interface Flash {
  /** The path of the page that shows the flash. */
  path: string;
  /** The ID of the flash in the session row. The row records whether a page has shown the flash. */
  id: string;
  value: unknown;
  /** The message that confirms the change. */
  confirmation: string | undefined;
}

/** A passkey challenge and its expiry time in milliseconds since 1970. */
type Challenge = [challenge: string, until: number];

interface OfferedAccounts {
  /** For each account, a reference to the account and a value that changes when the password changes. */
  found: [name: string, password: string][];
  /** The expiry time of the list, in milliseconds since 1970. */
  until: number;
}

/** The data of the cookie `session`. */
interface SessionData {
  /** The token that identifies the session in the database. */
  token?: string;
  challenges?: Challenge[];
  offered?: OfferedAccounts;
  flash?: Flash | undefined;
  /** The CSRF secret, which @fastify/csrf-protection sets. */
  _csrf?: string;
}

/** The data of the cookie `device`. */
interface DeviceData {
  /** References to the accounts that have signed in with this browser. */
  known?: string[];
  /** The time of the last sign-in in milliseconds since 1970. It makes each sign-in renew the cookie for a year. */
  signedInAt?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    session: SessionData;
    device: DeviceData;
  }
}

/**
 * Registers two encrypted `HttpOnly` cookies. The cookie `session` contains the session token and the CSRF secret, and
 * the cookie `device` contains the accounts that have signed in with the browser.
 * @param keys 32-byte keys; the first key encrypts, and every key can decrypt
 */
export async function addCookies(
  scope: FastifyInstance,
  { keys, secure }: { keys: readonly Uint8Array[]; secure: boolean },
): Promise<void> {
  // Cookies with the prefix `__Host-` can't be set over plain HTTP or by other hosts of the domain (RFC 6265bis
  // §4.1.3.2).
  const prefix = secure ? '__Host-' : '';
  const options = { path: secure ? '/' : '/developer', httpOnly: true, sameSite: 'lax', secure } as const;
  const session = { property: 'session', name: `${prefix}itsm_session`, validSeconds: 30 * 86_400, options } as const;
  const device = {
    property: 'device',
    name: `${prefix}itsm_device`,
    validSeconds: yearSeconds,
    options: { ...options, maxAge: yearSeconds },
  } as const;
  await addEncryptedCookies(scope, { cookies: [session, device], keys });
}

/** Returns the session of a request. Returns undefined if the request has no session or if the session has ended. */
export function findCurrentSession(accounts: AccountStore, request: FastifyRequest): Promise<Session | undefined> {
  return findSession(accounts, request.session.token);
}

/** Returns functions that read and change the cookies of a request. */
export function createBrowserCookies(accounts: AccountStore, request: FastifyRequest, from: Origin): BrowserCookies {
  const getKnownAccounts = () => request.device.known ?? [];
  const getChallenges = () => request.session.challenges ?? [];
  return {
    async signIn(account) {
      const token = await beginSession(accounts, account, from);
      // Prevents session fixation. An attacker may have set the current session and CSRF secret, so both are replaced.
      request.session = { token };
      const known = [...new Set([formatReference(account), ...getKnownAccounts()])].slice(0, maxKnownAccounts);
      request.device = { known, signedInAt: Date.now() };
    },
    signOut() {
      request.session = {};
    },
    isKnown: (account) => getKnownAccounts().includes(formatReference(account)),
    addChallenge(challenge) {
      const newest: Challenge = [challenge, Date.now() + challengeMs];
      request.session.challenges = [newest, ...getChallenges()].slice(0, maxChallenges);
    },
    async consumeChallenge(challenge) {
      const found = getChallenges().find(([each]) => each === challenge);
      request.session.challenges = getChallenges().filter(([each]) => each !== challenge);
      return found !== undefined && found[1] > Date.now() && (await useChallenge(accounts, challenge));
    },
    offerAccounts(all) {
      const found = all.map(({ account, password }): [string, string] => [formatReference(account), password]);
      request.session.offered = { found, until: Date.now() + challengeMs };
    },
    get offeredAccounts() {
      const { found = [], until = 0 } = request.session.offered ?? {};
      return until < Date.now() ? [] : found.map(([name, password]) => ({ account: parseReference(name), password }));
    },
  };
}

/**
 * Stores a flash (a value that a page shows once) in the cookie, and its ID in the session row. The ID prevents a copy
 * of the cookie from showing the flash again. Stores nothing if the user has signed out.
 */
export async function storeFlash(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, ...shown }: { session: Session } & Omit<Flash, 'id'>,
): Promise<void> {
  if (request.session.token === undefined) return;
  const id = crypto.randomUUID();
  await setFlash(accounts, session, id);
  request.session.flash = { ...shown, id };
}

/** Returns the stored flash if it is for the requested page. Doesn't check whether a page has already shown it. */
export function findFlash(request: FastifyRequest): Flash | undefined {
  const { flash } = request.session;
  return flash?.path === request.url.split('?')[0] ? flash : undefined;
}

/** Marks the flash as shown. @returns false if a page has already shown it */
export async function tryConsumeFlash(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, flash }: { session: Session; flash: Flash },
): Promise<boolean> {
  const may = await consumeFlash(accounts, session, flash.id);
  request.session.flash = undefined;
  return may;
}

function parseReference(name: string): Reference {
  const [tenantId = '', userId = ''] = name.split('.');
  return { tenantId: toTenantId(tenantId), userId: BigInt(userId) };
}

function formatReference({ tenantId, userId }: Reference): string {
  return `${tenantId}.${userId}`;
}
