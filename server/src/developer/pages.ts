import { nouns } from '../administration/index.ts';
import type { AnyPage } from './framework/page.ts';
import { join } from './pages/account/accept-invitation.ts';
import { account } from './pages/account/account-page.ts';
import { signIn, workspaces } from './pages/account/sign-in.ts';
import { approval } from './pages/approvals/detail.ts';
import { approvals } from './pages/approvals/list.ts';
import { article, newArticle } from './pages/articles/detail.ts';
import { articles } from './pages/articles/list.ts';
import { asset, newAsset } from './pages/assets/detail.ts';
import { audit } from './pages/audit/audit-log.ts';
import { businessHours } from './pages/business-hours/business-hours-page.ts';
import { delivery } from './pages/deliveries/detail.ts';
import { deliveries } from './pages/deliveries/list.ts';
import { oneKey } from './pages/keys/detail.ts';
import { keys } from './pages/keys/list.ts';
import { newKey } from './pages/keys/new-key.ts';
import { nounPages } from './pages/nouns/noun-pages.ts';
import { overview } from './pages/overview/overview-page.ts';
import { proposal } from './pages/proposals/detail.ts';
import { proposals } from './pages/proposals/list.ts';
import { requests } from './pages/requests/list.ts';
import { settings } from './pages/settings/settings-page.ts';
import { attachmentContent, ticket } from './pages/tickets/detail.ts';
import { tickets } from './pages/tickets/list.ts';
import { usage } from './pages/usage/usage-page.ts';
import { newServiceAccount, newUser, user } from './pages/users/detail.ts';
import { users } from './pages/users/list.ts';
import { webhook } from './pages/webhooks/detail.ts';
import { newWebhook, webhooks } from './pages/webhooks/list.ts';
import { webhookReplay } from './pages/webhooks/webhook-replay.ts';

const administered = await Promise.all(Object.values(nouns).map(async ({ load }) => nounPages(await load())));

/** All pages of the developer area, in the order in which the navigation lists them. */
export const pages: readonly AnyPage[] = [
  ...[overview],
  ...[keys, newKey, oneKey],
  ...[usage, requests],
  ...[webhooks, newWebhook, webhook, webhookReplay],
  ...[deliveries, delivery],
  ...[tickets, ticket, attachmentContent],
  ...[approvals, approval],
  ...[proposals, proposal],
  ...[users, newUser, newServiceAccount, user],
  ...[...administered.flat(), newAsset, asset],
  ...[articles, newArticle, article],
  ...[businessHours, settings, audit, account, signIn, workspaces, join],
];
