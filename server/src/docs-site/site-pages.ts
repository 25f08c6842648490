import { errorDocsPath, pathPrefix } from '@itsm-api/contract';
import { changelogPath, type OpenApi } from '@itsm-api/contract/openapi';
import { contract } from '@itsm-api/contract/ts-rest';
import {
  describeErrors,
  describeEvents,
  describeOperations,
  describeReference,
  operationPath,
} from './contract-pages.ts';
import { describeOperation } from './operation-page.ts';

/** A page of the documentation site. */
export interface Page {
  /** The path of the page. It starts with `/`. `markdownPath()` returns the path of the page's Markdown. */
  path: string;
  /** The title on the page and in the navigation. */
  title: string;
  /** A description in one line, for lists of pages. */
  about: string;
  /** The path of the source file in the repository, or a function that builds Markdown from the OpenAPI document. */
  source: string | ((document: OpenApi) => string);
  /** Other words by which the search finds the page. */
  keywords?: string | undefined;
  /** Whether integrators rarely need the page, so that the search lists other pages first. */
  isSecondary?: boolean;
}

/** A group of pages about one subject, in reading order. */
export interface Group {
  title: string;
  pages: Page[];
}

export const landing: Page = {
  path: '/',
  title: 'ITSM Public API',
  about: 'Manage tickets, assets, projects, users and signed webhooks of your service desk with JSON over HTTP.',
  source: 'docs/index.md',
};

export const reference: Page = {
  path: '/docs/',
  title: 'API reference',
  about: 'Every operation and field, with requests that you can send from the page.',
  source: describeReference,
  keywords: 'Java C# Go PHP Ruby Kotlin generate client OpenAPI Swagger',
};

export const operationIndex: Page = {
  path: '/docs/reference',
  title: 'All operations',
  about: 'A page for each operation, with its parameters, fields, errors and samples.',
  source: describeOperations,
};

/** The pages about operations, by resource. The menu lists them only on these pages. */
export const operationGroups: Group[] = Object.entries(contract).map(([resource, endpoints]) => ({
  title: resource,
  pages: Object.entries(endpoints).map(([name, { summary, method, path }]) => {
    const operationId = `${resource}_${name}`;
    return {
      path: operationPath(operationId),
      title: summary,
      about: `${method} ${path.slice(pathPrefix.length).replace(/:(\w+)/g, '{$1}')}`,
      source: (document) => describeOperation(document, operationId),
    };
  }),
}));

/** All pages except the landing page and the pages about operations, in reading order. */
export const groups: Group[] = [
  {
    title: 'Get started',
    pages: [
      guide(
        'first-request',
        'Send your first request',
        'List and create tickets in the shell, TypeScript and Python.',
        'get started, getting started, quickstart, API key, curl',
      ),
      guide('api-keys', 'Manage API keys', 'Choose scopes, set an expiry, rotate and revoke keys.'),
      guide('roles', 'Assign roles', 'What admins, agents and requesters can do, and how to invite users.'),
      guide(
        'rate-limits',
        'Stay within rate limits',
        'Read the headers, and pause before a limit is reached.',
        'remaining requests left, quota, 429, throttling',
      ),
      guide('handle-errors', 'Handle errors', 'Read an error, and retry what is safe to retry.'),
      guide(
        'limitations',
        'Limits of the API',
        "What isn't possible, what to do instead, and maximum sizes.",
        'limitations, what it can not do, unsupported, not supported, missing features',
      ),
      guide('versioning', 'Versions and deprecation', 'How the API changes, and how to detect a deprecation.'),
    ],
  },
  {
    title: 'Read data',
    pages: [
      guide('pagination', 'Paginate lists', 'Read lists page by page, newest first, with exact totals.'),
      guide(
        'search-and-filter',
        'Search and filter',
        'Search by words, look up ticket numbers, and filter lists.',
        'find a ticket by the id of another or other system',
      ),
      guide(
        'sync-changes',
        'Sync changes',
        'Keep a complete copy up to date with the change feed.',
        'changed since yesterday, updated since, modified since, only changed tickets, incremental, delta, polling',
      ),
      guide('two-way-sync', 'Sync in both directions', 'Keep tickets equal with another system, and skip echoes.'),
    ],
  },
  {
    title: 'Write data',
    pages: [
      guide(
        'retry-safely',
        'Retry safely',
        'Repeat a write without duplicates, with idempotency keys.',
        'repeat a POST that timed out, timeout, duplicates, idempotent, Idempotency-Key, external id, upsert',
      ),
      guide('optimistic-concurrency', 'Optimistic concurrency', 'Update only what no other client has changed.'),
      guide('bulk-requests', 'Bulk requests', 'Create and update up to 100 tickets in one request.'),
      guide(
        'change-status',
        'Change the status',
        'The allowed status changes of tickets and assets.',
        'status transitions, allowed status changes, workflow, state machine, retire assets, dispose of assets, close tickets, reopen tickets',
      ),
      guide(
        'migrate',
        'Migrate from another service desk',
        'Import tickets with their original times and authors.',
        'import old tickets with dates, history, createdAt, backfill',
      ),
      guide('sync-assets', 'Sync an asset inventory', 'Create and update assets from an inventory list.'),
      guide('comments-and-activity', 'Comments and activity', 'Add comments, and see who changed what and when.'),
      guide(
        'response-targets',
        'Set response targets',
        'Set business hours, targets for the first response and resolution, and due dates. Find overdue tickets.',
        'SLA, service level agreement, deadline, working hours, calendar, holidays',
      ),
      guide(
        'approve-changes',
        'Plan and approve changes',
        'Plan the window of a change, and decide about its approvals.',
      ),
      guide('route-tickets', 'Route tickets with teams and tags', 'Set teams and tags, and route tickets by keywords.'),
      guide('relate-tickets', 'Relate tickets and assets', 'Add assets to tickets, and link tickets to each other.'),
      guide('attachments', 'Attach files', 'Upload files to tickets, and download them.'),
      guide('articles', 'Use the knowledge base', 'Import articles, find a solution, and copy all articles.'),
      guide('custom-fields', 'Store custom fields', 'Add your own fields to tickets and assets, and type them.'),
      guide(
        'request-forms',
        'Offer request forms',
        'Define forms, and submit them with typed answers.',
        'questions of a form, portal, service catalog',
      ),
    ],
  },
  {
    title: 'Webhooks',
    pages: [
      guide(
        'verify-signatures',
        'Verify signatures',
        'Receive events in TypeScript, Python and the shell.',
        'check webhook signature, HMAC',
      ),
      guide('manage-webhooks', 'Manage webhooks', 'Filter, test, pause and replay events, and rotate the secret.'),
      {
        path: '/docs/webhooks',
        title: 'Events',
        about: 'The body of each event, and the headers of a delivery.',
        source: describeEvents,
      },
    ],
  },
  {
    title: 'Clients and agents',
    pages: [
      {
        path: '/docs/client',
        title: 'TypeScript client',
        about: 'Typed calls with rate limits, retries, lists, change feeds and webhooks.',
        source: 'client/README.md',
      },
      {
        path: '/docs/python-client',
        title: 'Python client',
        about: 'The same calls in Python, with rate limits, retries, lists, change feeds and webhooks.',
        source: 'client/python/README.md',
      },
      guide('python', 'Use Python', 'Sync tickets, import an inventory, and receive webhooks in Python.'),
      {
        path: '/docs/examples',
        title: 'Client examples',
        about: 'Programs to start from, and how to run them.',
        source: 'examples/README.md',
      },
      example('sync-tickets', 'Export tickets to a file', 'Writes all tickets to a file.'),
      example('follow-tickets', 'Follow ticket changes', 'Keeps a copy of all tickets up to date.'),
      example('two-way-sync', 'Sync in both directions', 'Syncs titles and priorities with another system.'),
      example('migrate-tickets', 'Import tickets', 'Imports the tickets of another service desk.'),
      example('inventory', 'List the parts of machines', 'Turns the outputs of `lshw` into a list of assets.'),
      example('service-desk', 'Create and sync all data', 'Creates tickets with an attachment, and syncs a workspace.'),
      example('ticket-form', 'Show a request form', 'Shows a request form in the browser, and submits it.'),
      example('webhook-receiver', 'Receive webhooks', 'Receives webhooks with `node:http`, and verifies them.'),
      example(
        'deploy-gate',
        'Deploy after an approval',
        'Opens a change, waits for its approvals, and runs a command.',
      ),
      guide('alerts', 'Create tickets from alerts', 'Receive the alerts of Prometheus Alertmanager and Grafana.'),
      guide('test-your-integration', 'Test your integration', 'Run a server with its own PostgreSQL in your tests.'),
      guide('agents', 'Connect AI agents', 'Use the MCP server with Claude, VS Code, Cursor or your own agent.'),
      guide('let-agents-propose', 'Let agents propose', 'Let agents propose changes that a person accepts.'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      operations(
        'install-and-upgrade',
        'Install and upgrade',
        'Set up processes, PostgreSQL, Redis and attachments.',
        'upgrade without downtime, zero downtime, rolling update, Docker, Kubernetes',
      ),
      operations(
        'back-up-and-restore',
        'Back up and restore',
        'Back up the database, the attachments and single tenants.',
        'restore to a point in time, point-in-time recovery, PITR, disaster recovery',
      ),
      operations('cells', 'Run several cells', 'Divide tenants over several databases, and move them.'),
      operations(
        'monitor-and-repair',
        'Monitor and repair',
        'Health checks, metrics, traces, and what to do about alerts.',
      ),
      {
        isSecondary: true,
        path: '/docs/scaling',
        title: 'Scaling',
        about: 'How much load processes and databases can handle, and when to add some.',
        source: 'docs/scaling.md',
      },
      {
        isSecondary: true,
        path: '/docs/managed-postgresql',
        title: 'Managed PostgreSQL',
        about: 'What the service needs from a managed PostgreSQL, and which services have it.',
        source: 'docs/managed-postgresql.md',
      },
      {
        isSecondary: true,
        path: '/docs/command-line',
        title: 'Command line',
        about: 'The arguments, options and examples of each `itsm` command.',
        source: 'docs/command-line.md',
      },
    ],
  },
  {
    title: 'Evaluate',
    pages: [
      evaluation(
        'reliability',
        'Reliability',
        'The guarantees of the service, and the tests that verify them.',
        'process killed, crash, kill, lost events, data loss, durability',
      ),
      evaluation('measurements', 'Measurements', 'Lost events, failed requests and growth in long runs under kills.'),
      evaluation(
        'performance',
        'Performance',
        'Latency and throughput with ten million tickets.',
        'fast, speed, slow, latency, p99, throughput, benchmark, millions of tickets',
      ),
      evaluation(
        'security',
        'Security',
        'How the service handles the OWASP API Security Top 10, and what it does not meet.',
        'tenants isolated, tenant isolation, multi-tenancy, row-level security, RLS',
      ),
      evaluation('external-checks', 'External checks', 'What linters, validators and clients of others find.'),
      evaluation('guidelines', 'API guidelines', 'How the API compares with the guidelines of Zalando and Google.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      reference,
      operationIndex,
      {
        path: errorDocsPath,
        title: 'Errors',
        about: 'The cause and the remedy of each error code.',
        source: describeErrors,
      },
      {
        isSecondary: true,
        path: changelogPath,
        title: 'Changelog',
        about: 'The changes of each version, newest first.',
        source: 'docs/changelog.md',
      },
    ],
  },
];

/** The page for an unknown path. Links in it lead to the pages that readers look for most. */
export const notFoundPage: Page = {
  path: '/docs/not-found',
  title: 'Page not found',
  about: 'This page does not exist.',
  source: () => `# Page not found

This page does not exist. Check the address, or search with the button at the top.

- [Send your first request](/docs/guides/first-request)
- [All operations](/docs/reference)
- [Errors](/docs/errors)
- [The developer area](/developer)
`,
};

/** The paths of pages that moved, and where their content is. */
export const redirects: Record<string, string> = {
  '/docs/guides/due-dates': '/docs/guides/response-targets',
  '/docs/guides/plan-changes': '/docs/guides/approve-changes',
  '/docs/guides/type-your-fields': '/docs/guides/custom-fields',
  '/docs/guides/client-examples': '/docs/examples',
};

export const operationPages: ReadonlySet<Page> = new Set(operationGroups.flatMap((group) => group.pages));

export const pages: Page[] = [landing, ...groups.flatMap((group) => group.pages), ...operationPages];

/** Returns the path of a page's Markdown. The path ends with `.md`, or with `index.md` for a folder. */
export function markdownPath({ path }: Page): string {
  return path.endsWith('/') ? `${path}index.md` : `${path}.md`;
}

/** Returns a `Link` header (RFC 8288) that refers to the Markdown of a page. */
export function linkToMarkdown(page: Page): string {
  return `<${markdownPath(page)}>; rel="alternate"; type="text/markdown"`;
}

function guide(name: string, title: string, about: string, keywords?: string): Page {
  return { path: `/docs/guides/${name}`, title, about, source: `docs/guides/${name}.md`, keywords };
}

function example(name: string, title: string, about: string): Page {
  return { path: `/docs/examples/${name}`, title, about, source: `examples/${name}.ts` };
}

function operations(name: string, title: string, about: string, keywords?: string): Page {
  const [path, source] = [`/docs/operations/${name}`, `docs/operations/${name}.md`];
  return { path, title, about, source, keywords, isSecondary: true };
}

function evaluation(name: string, title: string, about: string, keywords?: string): Page {
  return { path: `/docs/${name}`, title, about, source: `docs/${name}.md`, keywords, isSecondary: true };
}
