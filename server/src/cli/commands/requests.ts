import { loggedErrorCodes } from '../../usage/logged-error-codes.ts';
import { common, noun, type Parameter } from '../lib/command.ts';

const filters = [
  common.tenant,
  { flags: '--key <id>', about: 'only requests of this API key', values: 'keys' },
  {
    flags: '--error <code>',
    about: 'only requests that failed with this error code, or any for all failed requests',
    values: ['any', ...loggedErrorCodes],
  },
  { flags: '--since <moment>', about: 'only requests since then: 30m, 2h or 3d ago, or 2026-11-20T10:00:00Z' },
  { flags: '--until <moment>', about: 'only requests before then' },
] satisfies Parameter[];

export const requests = noun({
  verbs: {
    list: {
      summary: 'List the requests of a tenant, newest first',
      details:
        'The request log keeps some requests of each minute (`REQUEST_LOG_SUCCESSES`, `REQUEST_LOG_ERRORS`) for some days ' +
        '(`REQUEST_LOG_DAYS`). It contains no requests with the status 429.',
      options: [...filters, common.limit, common.utc],
      examples: ['requests list --tenant Acme', 'requests list --tenant Acme --error any --since 2h'],
    },
    show: {
      summary: 'Show the requests with a request ID, as in an error or in the header x-request-id',
      arguments: [{ flags: '<request-id>', about: 'request ID' }],
      options: [common.tenant, common.utc],
      examples: ['requests show 01994f6a8d9c7e0f8a2b3c4d5e6f7a8b --tenant Acme'],
    },
    export: {
      summary: 'Export the requests of a tenant to a file, newest first',
      details: 'The format is JSON Lines: one object per line.',
      arguments: [{ flags: '<file>', about: 'file to create' }],
      options: [...filters, { flags: '--yes', about: 'replace an existing file without confirmation' }],
      examples: [
        'requests export requests.jsonl --tenant Acme',
        'requests export errors.jsonl --tenant Acme --error any --since 1d',
      ],
    },
  },
  actions: () => import('../actions/requests.ts'),
});
