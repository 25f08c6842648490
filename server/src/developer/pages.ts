import { account } from './account.ts';
import { asset, newAsset } from './asset.ts';
import { assetFiles, assets } from './assets.ts';
import { audit } from './audit.ts';
import { deliveries } from './deliveries.ts';
import { delivery } from './delivery.ts';
import { join } from './join.ts';
import { oneKey } from './key.ts';
import { keys } from './keys.ts';
import { newKey } from './new-key.ts';
import type { AnyPage } from './page.ts';
import { newProject, project } from './project.ts';
import { projectFiles, projects } from './projects.ts';
import { signIn, workspaces } from './sign-in.ts';
import { ticket } from './tickets.ts';
import { usage } from './usage.ts';
import { newUser, user } from './user.ts';
import { users } from './users.ts';
import { webhook } from './webhook.ts';
import { webhookReplay } from './webhook-replay.ts';
import { newWebhook, webhooks } from './webhooks.ts';

/** All pages of the developer area, in the order of the navigation. */
export const pages: readonly AnyPage[] = [
  ...[keys, newKey, oneKey],
  usage,
  ...[webhooks, newWebhook, webhook, webhookReplay],
  ...[deliveries, delivery],
  ...[users, newUser, user],
  ...[assets, newAsset, asset, ...assetFiles],
  ...[projects, newProject, project, ...projectFiles, ticket],
  ...[audit, account, signIn, workspaces, join],
];
