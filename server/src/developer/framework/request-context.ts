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
  /** The origin of the area, for which passkeys are created. */
  site: RelyingParty;
  /** Whether a program on this machine sent the request without a proxy. */
  isLocal: boolean;
  /** The CSRF token for forms. */
  csrf: string;
  /** Access to the cookies of the browser. */
  browser: BrowserCookies;
  /** The store of accounts and sessions. The data of the workspace is in `context`. */
  accounts: AccountStore;
  user?: SignedIn;
}

/** The context of a request with a session. */
export interface UserContext extends RequestContext {
  user: SignedIn;
  /** Access to the data of the workspace, with the database role of requests. */
  context: Context & { userId: bigint };
  /** Runs work within the concurrency limit of the workspace, for queries after the response has started, such as downloads. */
  runLimited<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Loads the user again. Returns undefined if the session has ended since the request started. */
  reloadUser(): Promise<SignedIn | undefined>;
  /** The value that the previous form left for this page to show once. */
  flash: unknown;
  /** Renders a time in the time zone of the user, or `none` if it is null. */
  time(moment: string | null, none?: string): SafeHtml;
}

export interface SignedIn {
  session: Session;
  account: Account;
}

/** The encrypted cookies of the browser. */
export interface BrowserCookies {
  /** Starts a session and remembers the account in the device cookie. */
  signIn(account: Account): Promise<void>;
  signOut(): void;
  /** Returns whether the account has signed in with this browser. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
  /** Stores a passkey challenge for 5 minutes. */
  addChallenge(challenge: string): void;
  /** Removes a challenge. Returns whether it was stored, has not expired and was not used. */
  takeChallenge: ConsumeChallenge;
  /** Stores for 5 minutes the accounts with a matching password, for the user to choose one. */
  offerAccounts(found: readonly PasswordSignIn[]): void;
  readonly offeredAccounts: readonly PasswordSignIn[];
}
