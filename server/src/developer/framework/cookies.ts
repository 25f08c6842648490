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

/** How long a challenge may be answered: who is asked for a finger may have to look for it. Milliseconds. */
const challengeMs = 5 * 60_000;
/** Several pages may be open, each with a challenge of its own. */
const mostChallenges = 5;
/** To how many accounts a browser is known to have signed in. */
const mostKnown = 20;
const yearSeconds = 365 * 86_400;

type Reference = Pick<Account, 'tenantId' | 'userId'>;

interface Flash {
  /** The page that shows it. */
  path: string;
  /** What it is known by to the session, which knows whether it was shown. */
  id: string;
  value: unknown;
  /** The sentence that confirms what the form did. */
  confirmation: string | undefined;
}

/** With the time until which it may be answered, in milliseconds since 1970. */
type Challenge = [challenge: string, until: number];

interface Offered {
  /** The name of each account, and what tells its password. */
  found: [name: string, password: string][];
  /** Milliseconds since 1970. */
  until: number;
}

declare module '@fastify/secure-session' {
  interface SessionData {
    /** What the row of the session is found by. */
    token: string;
    challenges: Challenge[];
    offered: Offered;
    flash: Flash | undefined;
    /** The accounts that were signed in here. */
    known: string[];
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the browser keeps for a year: where somebody has signed in. */
    device: Cookie;
  }
}

/**
 * Two cookies, encrypted and out of reach for scripts: who is signed in, as the opaque name of a row, and where the browser
 * has signed in before.
 * @param keys 32 bytes each; the first encrypts, all of them decrypt
 */
export async function addCookies(
  scope: FastifyInstance,
  { keys, secure }: { keys: Buffer[]; secure: boolean },
): Promise<void> {
  // Neither another host of the domain nor plain http can set a cookie with this prefix (RFC 6265bis §4.1.3.2).
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

/** The session that the browser is in. */
export function sessionOf(accounts: AccountStore, request: FastifyRequest): Promise<Session | undefined> {
  return findSession(accounts, request.session.get('token'));
}

/** What the browser of a request keeps. */
export function cookiesOf(accounts: AccountStore, request: FastifyRequest, from: Origin): BrowserCookies {
  const { session, device } = request;
  const known = () => device.get('known') ?? [];
  const given = () => session.get('challenges') ?? [];
  return {
    async signIn(account) {
      const token = await beginSession(accounts, account, from);
      // Nothing of what was there before stays: neither a session that somebody else has put there, nor its CSRF secret.
      session.regenerate();
      session.set('token', token);
      device.set('known', [...new Set([nameOf(account), ...known()])].slice(0, mostKnown));
    },
    signOut: () => session.delete(),
    isKnown: (account) => known().includes(nameOf(account)),
    giveChallenge(challenge) {
      const newest: Challenge = [challenge, Date.now() + challengeMs];
      session.set('challenges', [newest, ...given()].slice(0, mostChallenges));
    },
    async takeChallenge(challenge) {
      const found = given().find(([each]) => each === challenge);
      session.set(
        'challenges',
        given().filter(([each]) => each !== challenge),
      );
      return found !== undefined && found[1] > Date.now() && (await useChallenge(accounts, challenge));
    },
    offer(all) {
      const found = all.map(({ account, password }): [string, string] => [nameOf(account), password]);
      session.set('offered', { found, until: Date.now() + challengeMs });
    },
    get offered() {
      const { found = [], until = 0 } = session.get('offered') ?? {};
      return until < Date.now() ? [] : found.map(([name, password]) => ({ account: referenceOf(name), password }));
    },
  };
}

/** Keeps something that a page shows once: also to somebody who has kept the cookie, since its session knows. */
export async function storeFlash(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, ...shown }: { session: Session } & Omit<Flash, 'id'>,
): Promise<void> {
  const id = crypto.randomUUID();
  await setFlash(accounts, session, id);
  request.session.set('flash', { ...shown, id });
}

/** What the page of a request is to show once, if that was not shown yet; undefined when there is nothing. */
export function flashFor(request: FastifyRequest): Flash | undefined {
  const flash = request.session.get('flash');
  return flash?.path === request.url.split('?')[0] ? flash : undefined;
}

/** Whether it may be shown now; never again after that. */
export async function mayShow(
  accounts: AccountStore,
  request: FastifyRequest,
  { session, flash }: { session: Session; flash: Flash },
): Promise<boolean> {
  const may = await consumeFlash(accounts, session, flash.id);
  request.session.set('flash', undefined);
  return may;
}

function referenceOf(name: string): Reference {
  const [tenantId = '', userId = ''] = name.split('.');
  return { tenantId: toTenantId(tenantId), userId: BigInt(userId) };
}

function nameOf({ tenantId, userId }: Reference): string {
  return `${tenantId}.${userId}`;
}
