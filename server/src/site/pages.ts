import { errorDocsPath } from '@itsm-api/contract';
import { changelogPath, type OpenApi } from '@itsm-api/contract/openapi';
import { describeErrors, describeEvents, describeReference } from './contract-pages.ts';

/** A page of the site. */
export interface Page {
  /** Where it is, from `/`. Its Markdown is at `markdownPath()` of it. */
  path: string;
  /** As the navigation calls it. */
  title: string;
  /** What it is about, in a line: for lists of pages. */
  about: string;
  /** The file that it is, from the root of the repository; or what the contract makes it of, in Markdown. */
  source: string | ((document: OpenApi) => string);
}

/** Pages that belong together, in the order in which they are read. */
export interface Group {
  title: string;
  pages: Page[];
}

export const landing: Page = {
  path: '/',
  title: 'ITSM Public API',
  about: 'Tickets, assets, projects, users and signed webhooks of your service desk, over HTTP and JSON.',
  source: 'docs/index.md',
};

export const reference: Page = {
  path: '/docs/',
  title: 'Reference',
  about: 'Every operation and field, to be tried out in the page.',
  source: describeReference,
};

/** All pages but the first one: the one place for their order and titles. */
export const groups: Group[] = [
  {
    title: 'Begin',
    pages: [
      guide('first-request', 'First request', 'A key, a request, an answer: in the shell, TypeScript and Python.'),
      {
        path: '/docs/client',
        title: 'The TypeScript client',
        about: 'Typed calls that keep to the limits, repeat what may be repeated, and follow changes.',
        source: 'client/README.md',
      },
      guide('rate-limits', 'Rate limits', 'How much a key may ask, and what every answer tells of it.'),
      guide('errors-and-retries', 'Errors and retries', 'What went wrong, and what to send again.'),
    ],
  },
  {
    title: 'Read',
    pages: [
      guide('pagination', 'Pagination', 'Lists page by page, newest first, with exact totals.'),
      guide('finding', 'Finding', 'By word, number, time and user.'),
      guide('syncing', 'Keeping a copy', 'The first copy, and all that changes since, with nothing missed.'),
    ],
  },
  {
    title: 'Write',
    pages: [
      guide('retrying-writes', 'Retrying writes', 'Once, however often it is sent.'),
      guide('concurrency', 'Concurrency', 'Changing what others change, too.'),
      guide('bulk', 'Many at once', 'Up to 100 tickets in one request, each answered by itself.'),
      guide('assets', 'Assets', 'Made and kept in step with an inventory.'),
      guide('comments-and-activity', 'Comments and activity', 'What is said, and who changed what and when.'),
    ],
  },
  {
    title: 'Webhooks',
    pages: [
      {
        path: '/docs/webhooks',
        title: 'Events',
        about: 'What is delivered: each event with its body, and the headers that sign it.',
        source: describeEvents,
      },
      guide('verifying-webhooks', 'Verifying', 'Signatures in TypeScript, Python and the shell.'),
      guide('managing-webhooks', 'Managing', 'Filter, test, pause, change the secret, send again.'),
    ],
  },
  {
    title: 'Programs and agents',
    pages: [
      guide('client', 'About the client', 'Programs to begin with, and how the client is made.'),
      guide('agents', 'Agents', 'An MCP server for Claude, VS Code, Cursor and your own.'),
      example('sync-tickets', 'Tickets to a file', 'Writes all tickets to a file, however long it takes.'),
      example('follow-tickets', 'A copy that follows', 'Keeps a copy of all tickets, and goes on where it was.'),
      example('ticket-form', 'A form for tickets', 'A form in the browser that creates tickets.'),
      example('webhook-receiver', 'A webhook receiver', 'Receives webhooks on bare `node:http`, and verifies them.'),
    ],
  },
  {
    title: 'Look up',
    pages: [
      reference,
      { path: errorDocsPath, title: 'Errors', about: 'Each code: what it means, what to do.', source: describeErrors },
      {
        path: changelogPath,
        title: 'Changelog',
        about: 'What has come to the API, newest first.',
        source: 'docs/changelog.md',
      },
    ],
  },
];

export const pages: Page[] = [landing, ...groups.flatMap((group) => group.pages)];

/** Where the Markdown of a page is: its path with `.md`, that of a folder as `index.md`. */
export function markdownPath({ path }: Page): string {
  return path.endsWith('/') ? `${path}index.md` : `${path}.md`;
}

/** Tells of it in a header (RFC 8288). */
export function linkToMarkdown(page: Page): string {
  return `<${markdownPath(page)}>; rel="alternate"; type="text/markdown"`;
}

function guide(name: string, title: string, about: string): Page {
  return { path: `/docs/guides/${name}`, title, about, source: `docs/guides/${name}.md` };
}

function example(name: string, title: string, about: string): Page {
  return { path: `/docs/examples/${name}`, title, about, source: `examples/${name}.ts` };
}
