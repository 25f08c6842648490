import { listReplays } from '@itsm-api/server/resources/webhooks/webhook-replays.ts';
import { createRow, declarations } from '../support/nouns.ts';
import type { Workspace } from '../support/workspace.ts';

/** A sample request for a page of the developer area. */
interface Sample {
  /** Creates rows in the workspace, and returns the path parameters of the page. */
  params?(workspace: Workspace): Promise<Record<string, string | number>>;
  /** Creates rows in the workspace, and returns the query of the page, starting with `?`. */
  query?(workspace: Workspace): Promise<string>;
  /** Set only if the response is a file. Other responses are HTML pages. */
  kind?: 'file';
}

const fileSamples = (path: string): [string, Sample][] => [
  [`${path}/import`, {}],
  [`${path}/export`, { kind: 'file' }],
  [`${path}/template`, { kind: 'file' }],
];

/** Samples for the pages of the nouns that administrators manage. */
const nounSamples = Object.fromEntries(
  declarations.flatMap(({ noun, path }): [string, Sample][] => [
    [path, {}],
    [`${path}/new`, {}],
    ...(noun.csvColumns?.(({ preview }) => preview !== undefined) === true ? fileSamples(path) : []),
    [`${path}/one`, { query: (workspace) => createRow(noun, workspace) }],
  ]),
);

/** Sample requests for all pages of the developer area, by path. rules.test.ts fails if a page has no sample. */
export const samples: Record<string, Sample> = {
  '/developer/overview': {},
  '/developer/keys': {},
  '/developer/keys/new': {},
  '/developer/keys/:id': { params: async ({ context }) => ({ id: Number(context.keyId) }) },
  '/developer/users': {},
  '/developer/users/new': {},
  '/developer/users/new-service-account': {},
  '/developer/users/:id': { params: async ({ userId }) => ({ id: userId }) },
  '/developer/approvals': {},
  '/developer/approvals/:id': {
    params: async (workspace) => ({ id: (await workspace.createApproval(workspace.userId)).id }),
  },
  '/developer/proposals': { query: async (workspace) => `?operation=${(await workspace.createProposal()).operation}` },
  '/developer/proposals/:id': { params: async (workspace) => ({ id: (await workspace.createProposal()).id }) },
  ...nounSamples,
  '/developer/articles': {},
  '/developer/articles/new': {},
  '/developer/articles/:id': { params: async (workspace) => ({ id: (await workspace.createArticle()).id }) },
  '/developer/tickets': {},
  '/developer/tickets/:id': { params: async (workspace) => ({ id: (await workspace.createAttachment()).ticketId }) },
  '/developer/attachments/:id/content': {
    params: async (workspace) => ({ id: (await workspace.createAttachment()).id }),
    kind: 'file',
  },
  '/developer/usage': {},
  '/developer/requests': {},
  '/developer/webhooks': {},
  '/developer/webhooks/new': {},
  '/developer/webhooks/:id': { params: async (workspace) => ({ id: (await workspace.createDelivery()).webhookId }) },
  '/developer/webhooks/:id/replays/:replay': { params: makeReplay },
  '/developer/deliveries': {},
  '/developer/deliveries/:id': { params: async (workspace) => ({ id: (await workspace.createDelivery()).id }) },
  '/developer/business-hours': {},
  '/developer/settings': {},
  '/developer/audit': {},
  '/developer/account': {},
  '/developer/sign-in': {},
  '/developer/workspaces': {},
  '/developer/join': {},
};

async function makeReplay(workspace: Workspace) {
  const { webhookId: id } = await workspace.createDelivery();
  await workspace.call('POST', `/webhooks/${id}/replay`, { since: '2026-11-20T10:00:00Z' });
  const [replay] = await listReplays(workspace.context, id, 1);
  return { id, replay: replay?.id ?? 0 };
}

/** Creates the rows that a page needs. Returns the path and query of the page. */
export async function addressOf(path: string, workspace: Workspace): Promise<string> {
  const sample = samples[path];
  if (sample === undefined) throw new Error(`${path} has no sample in test/developer/samples.ts.`);
  const params = (await sample.params?.(workspace)) ?? {};
  return path.replace(/:(\w+)/g, (_, name) => String(params[name])) + ((await sample.query?.(workspace)) ?? '');
}
