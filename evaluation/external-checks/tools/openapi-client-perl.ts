import { join } from 'node:path';
import { pathPrefix } from '@itsm-api/contract';
import { type ExternalCheck, run, toResult } from '../external-check.ts';

const program = join(import.meta.dirname, 'validate-responses.pl');

/** The Perl module OpenAPI::Client of Debian, which calls operations of OpenAPI 3.0 documents. */
export const perl: ExternalCheck = {
  name: 'OpenAPI::Client (Perl)',
  about: 'Each GET operation, with its required parameters. A check is a response.',
  async version() {
    const print = 'print OpenAPI::Client->VERSION';
    return run('perl', ['-MOpenAPI::Client', '-e', print]).catch(() => {
      throw new Error('Install the Debian package libopenapi-client-perl.');
    });
  },
  async run({ origin, key }) {
    const output = await run('perl', [program, `${origin}/openapi-3.0.json`, origin + pathPrefix], {
      env: { ITSM_KEY: key },
    });
    const { checks, findings } = JSON.parse(output) as {
      checks: number;
      findings: { rule: string; message: string }[];
    };
    return toResult(checks, findings);
  },
};
