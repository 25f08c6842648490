import type { SafeHtml } from '@remix-run/html-template';
import type { Account, AccountStore } from '../../auth/accounts/account.ts';
import type { ConsumeChallenge, RelyingParty } from '../../auth/accounts/passkeys.ts';
import type { PasswordSignIn } from '../../auth/accounts/password-sign-in.ts';
import type { Origin, Session } from '../../auth/accounts/sessions.ts';
import type { Context } from '../../resources/shared/context.ts';

/** The context of a request, with or without a session. */
export interface RequestContext {
  /** The IP address and the user agent of the request. */
  from: Origin;
  /** The origin of the developer area, for which browsers create passkeys. */
  site: RelyingParty;
  /** Whether the request comes from this machine without a proxy. */
  isLocal: boolean;
  /** The CSRF token, which forms send in a hidden field. */
  csrf: string;
  /** Functions that read and change the cookies of the browser. */
  browser: BrowserCookies;
  /** The store of accounts and sessions. For other data of the workspace, use `context` of `UserContext`. */
  accounts: AccountStore;
  user?: SignedIn;
}

/** The context of a request with a session. */
export interface UserContext extends RequestContext {
  user: SignedIn;
  /** The context for queries of the workspace. The queries have the database role of API requests. */
  context: Context & { userId: bigint };
  /**
   * Runs work within the concurrency limit of the workspace. Use it for queries after the response has started, such as
   * in downloads.
   */
  runLimited<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Loads the signed-in user again. Returns undefined if the session has ended since the request started. */
  reloadUser(): Promise<SignedIn | undefined>;
  /** The value that the previous form stored, and that this page shows once. */
  flash: unknown;
  /** Renders a time in the time zone of the user, or renders `none` if the time is null. */
  time(moment: string | null, none?: string): SafeHtml;
}

export interface SignedIn {
  session: Session;
  account: Account;
}

/** Functions that read and change the encrypted cookies of the browser. */
export interface BrowserCookies {
  /** Starts a session, and stores the account in the cookie `device`. */
  signIn(account: Account): Promise<void>;
  signOut(): void;
  /** Returns whether the account has signed in with this browser. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
  /** Stores a passkey challenge for 5 minutes. */
  addChallenge(challenge: string): void;
  /** Removes a passkey challenge. Returns true if the challenge was stored, has not expired and was never used. */
  consumeChallenge: ConsumeChallenge;
  /** Stores the accounts that match the password for 5 minutes, so that the user can choose one of them. */
  offerAccounts(found: readonly PasswordSignIn[]): void;
  readonly offeredAccounts: readonly PasswordSignIn[];
}
