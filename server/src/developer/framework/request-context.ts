import type { SafeHtml } from '@remix-run/html-template';
import type { Account, AccountStore } from '../../auth/accounts/account.ts';
import type { ConsumeChallenge, RelyingParty } from '../../auth/accounts/passkeys.ts';
import type { PasswordSignIn } from '../../auth/accounts/password-sign-in.ts';
import type { Origin, Session } from '../../auth/accounts/sessions.ts';
import type { Context } from '../../resources/shared/context.ts';

/** Who looks at a page, and from where. */
export interface RequestContext {
  /** Where the request came from. */
  from: Origin;
  /** The address of the area, for which passkeys are made. */
  site: RelyingParty;
  /** Whether a program on this machine sent it, and not through a proxy. */
  isLocal: boolean;
  /** What a form must bring along. */
  csrf: string;
  /** What the browser keeps. */
  browser: BrowserCookies;
  /** For who somebody is; data of the workspace is in `context`. */
  accounts: AccountStore;
  user?: SignedIn;
}

/** A visit of somebody who is signed in. */
export interface UserContext extends RequestContext {
  user: SignedIn;
  /** The workspace's data, with the rights of a request. */
  context: Context & { userId: bigint };
  /** Has what asks for the workspace's data after the page was answered, as a file is written, wait for its turn, too. */
  inItsTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The same, as it is now; undefined where the session has ended since the request was looked at. */
  again(): Promise<SignedIn | undefined>;
  /** What the form before this page had to show once. */
  flash: unknown;
  /** A moment in the visitor's time zone; `none` where there is none. */
  time(moment: string | null, none?: string): SafeHtml;
}

export interface SignedIn {
  session: Session;
  account: Account;
}

/** What the browser keeps, encrypted. */
export interface BrowserCookies {
  /** Signs an account in; from then on the browser is known to have been. */
  signIn(account: Account): Promise<void>;
  signOut(): void;
  /** Whether somebody has signed in to the account here. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
  /** Remembers a challenge for some minutes. */
  giveChallenge(challenge: string): void;
  /** Whether it was given, lately, and not taken yet. */
  takeChallenge: ConsumeChallenge;
  /** Remembers for some minutes the accounts whose password was right: one of them is to be chosen. */
  offer(found: readonly PasswordSignIn[]): void;
  readonly offered: readonly PasswordSignIn[];
}
