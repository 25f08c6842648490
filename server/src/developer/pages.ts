import { account } from './account.ts';
import { audit } from './audit.ts';
import { deliveries } from './deliveries.ts';
import { delivery } from './delivery.ts';
import { join } from './join.ts';
import type { AnyPage } from './page.ts';
import { signIn, workspaces } from './sign-in.ts';
import { webhook } from './webhook.ts';
import { webhookReplay } from './webhook-replay.ts';
import { newWebhook, webhooks } from './webhooks.ts';

/** All pages of the developer area, in the order of the navigation. */
export const pages: readonly AnyPage[] = [
  webhooks,
  newWebhook,
  webhook,
  webhookReplay,
  deliveries,
  delivery,
  audit,
  account,
  signIn,
  workspaces,
  join,
];
