import { account } from './account.ts';
import { audit } from './audit.ts';
import { join } from './join.ts';
import type { AnyPage } from './page.ts';
import { signIn, workspaces } from './sign-in.ts';
import { usage, usageCharts } from './usage.ts';

/** All pages of the developer area, in the order of the navigation. */
export const pages: readonly AnyPage[] = [usage, ...usageCharts, audit, account, signIn, workspaces, join];
