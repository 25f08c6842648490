import type { SafeHtml } from '@remix-run/html-template';
import type { Account, AccountStore } from '../../auth/accounts/account.ts';
import type { ConsumeChallenge, RelyingParty } from '../../auth/accounts/passkeys.ts';
import type { PasswordSignIn } from '../../auth/accounts/password-sign-in.ts';
import type { Session } from '../../auth/accounts/sessions.ts';
import type { Context } from '../../resources/shared/context.ts';
import type { Origin } from '../../shared/actor.ts';

/** The context of a request, with or without a session. */
export interface RequestContext {
  /** The client's IP address and user agent. */
  from: Origin;
  /** The origin of the developer area. Browsers create passkeys for this origin. */
  site: RelyingParty;
  /** Whether the request comes directly from the server's machine, without a proxy. */
  isLocal: boolean;
  /** The CSRF token. Each form sends it in a hidden field. */
  csrf: string;
  /** Functions that read and change the browser's cookies. */
  browser: BrowserCookies;
  /** The store of accounts and sessions. For the workspace's other data, use `context` of `UserContext`. */
  accounts: AccountStore;
  user?: SignedIn;
}

/** The context of a request with a session. */
export interface UserContext extends RequestContext {
  user: SignedIn;
  /** The context for queries in the workspace. The queries use the database role of API requests. */
  context: Context & { userId: bigint };
  /**
   * Counts a download of an attachment until the response ends.
   * @throws TenantLimitExceeded if too many downloads of the workspace are running
   */
  startDownload(): void;
  /**
   * Runs work within the workspace's concurrency limit. Use this function for queries that run after the response has
   * started, for example during a download.
   */
  runLimited<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Loads the signed-in user again. Returns undefined if the session has ended since the request started. */
  reloadUser(): Promise<SignedIn | undefined>;
  /** A value that the previous form stored. The page shows it once. */
  flash: unknown;
  /** Renders a time in the user's time zone. If the time is null, renders `none`. */
  time(moment: string | null, none?: string): SafeHtml;
}

export interface SignedIn {
  session: Session;
  account: Account;
}

/** Functions that read and change the browser's encrypted cookies. */
export interface BrowserCookies {
  /** Starts a session, and adds the account to the cookie `device`. */
  signIn(account: Account): Promise<void>;
  signOut(): void;
  /** Returns true if the account has signed in with this browser. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
  /** Stores a passkey challenge for 5 minutes. */
  addChallenge(challenge: string): void;
  /**
   * Removes a passkey challenge. Returns true if the challenge was stored, has not expired, and was not used before.
   */
  consumeChallenge: ConsumeChallenge;
  /** Stores the accounts that match the entered password. For 5 minutes, the user can choose one of them. */
  offerAccounts(found: readonly PasswordSignIn[]): void;
  readonly offeredAccounts: readonly PasswordSignIn[];
}
