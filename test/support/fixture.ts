import { test } from 'vitest';
import { type Api, type ApiOptions, startApi } from './api.ts';
import { signIn, type Visitor } from './visitor.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/*
 * The fixtures of a test file. Vitest starts them before the first test of the file, or before the first
 * `it.beforeAll`, and closes the API after the last test. A `beforeAll` of Vitest itself runs too early.
 *
 * The fixtures are exports, because functions outside of tests also need them, and `it.each` has no context.
 */

/** The API of the current test file. */
export let api: Api;

/** A workspace in the API: one for the test file, or with `itInNewWorkspace`, one for each test. */
export let workspace: Workspace;

/** A visitor of the developer area, who is signed in as the administrator of the workspace. */
export let admin: Visitor;

/** Starts an API. To start it with other options, extend the fixture `options`. */
export const itWithApi = test
  .extend('options', { scope: 'file' }, {} as ApiOptions)
  .extend('api', { scope: 'file', auto: true }, async ({ options }, { onCleanup }) => {
    const started = await startApi(options);
    onCleanup(started.close);
    api = started;
    return started;
  });

/** Starts an API, and creates a workspace. */
export const it = itWithApi.extend('workspace', { scope: 'file', auto: true }, async ({ api }) => {
  workspace = await createWorkspace(api);
  return workspace;
});

/** Starts an API, and creates a workspace for each test. */
export const itInNewWorkspace = itWithApi.extend('workspace', { auto: true }, async ({ api }) => {
  workspace = await createWorkspace(api);
  return workspace;
});

/** Starts an API, creates a workspace, and signs in to the developer area. */
export const itAsAdmin = it.extend('admin', { scope: 'file', auto: true }, async ({ api, workspace }) => {
  admin = await signIn(api, workspace);
  return admin;
});
