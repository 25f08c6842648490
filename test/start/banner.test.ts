import { readSettings } from '@itsm-api/server/config/env.ts';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { printBanner } from '@itsm-api/server/process/startup-banner.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';

/*
 * What `start` says of itself: text where a person is watching, a line of the log where none is.
 */
const { isTTY } = process.stdout;
afterEach(() => {
  process.stdout.isTTY = isTTY;
  vi.restoreAllMocks();
});

const demo = { tenant: 'Acme Corporation', adminEmail: 'ada@acme.example', key: 'itsm_key', invitation: '1.token' };

/** Everything that is said where a person is watching, or nobody is. */
function said(isWatched: boolean, env: Record<string, string> = {}): { printed: string; logged: string[] } {
  process.stdout.isTTY = isWatched;
  const printed: unknown[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(text) > 0);
  const logged: string[] = [];
  const logger = createLogger('silent', { write: (line) => logged.push(line) });
  printBanner(
    { origin: 'http://127.0.0.1:3000', operationsOrigin: undefined, settings: readSettings(env), demo },
    logger,
  );
  write.mockRestore();
  return { printed: printed.join(''), logged };
}

describe('a person', () => {
  it('is told where the API is, with the key of the demo workspace and a request to paste', () => {
    const { printed, logged } = said(true);
    expect(logged).toEqual([]);
    // What the person needs comes first, and nothing about connections.
    expect(printed).toMatch(/running\..+itsm_key\n.+token=1\.token\n.+ {2}API /s);
    expect(printed).not.toContain('connections');
    expect(printed).toMatch(/^ {2}The ITSM API is running\.$/m);
    expect(printed).toMatch(/^ {2}API {4}http:\/\/127\.0\.0\.1:3000\/api\/public\/v1$/m);
    expect(printed).toMatch(/^ {4}itsm_key$/m);
    expect(printed).toMatch(/^ {4}curl -H 'Authorization: Bearer itsm_key' 'http:\S+\/tickets\?perPage=3'$/m);
    // Browsers make no passkeys for bare addresses.
    expect(printed).toMatch(/^ {4}http:\/\/localhost:3000\/developer\/join\?token=1\.token$/m);
  });

  it('is told no key where others can reach the server', () => {
    expect(said(true, { HOST: '0.0.0.0' }).printed).not.toMatch(/itsm_key|1\.token/);
    expect(said(true, { PUBLIC_URL: 'https://itsm.example.com' }).printed).not.toMatch(/itsm_key|1\.token/);
  });
});

describe('a log', () => {
  it('gets one line with the same, whatever its level', () => {
    const { printed, logged } = said(false);
    expect(printed).toBe('');
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      {
        level: 30,
        time: expect.any(String),
        msg: 'The ITSM API is running.',
        api: 'http://127.0.0.1:3000/api/public/v1',
        docs: 'http://127.0.0.1:3000/',
        data: '.data (embedded PostgreSQL)',
        uses: expect.stringContaining('at most 36 connections to PostgreSQL: '),
        keys: expect.stringContaining('itsm keys create'),
        demo: {
          tenant: 'Acme Corporation',
          key: 'itsm_key',
          area: 'http://localhost:3000/developer/join?token=1.token',
          try: "curl -H 'Authorization: Bearer itsm_key' 'http://127.0.0.1:3000/api/public/v1/tickets?perPage=3'",
          anotherKey: expect.stringContaining("itsm keys create --tenant 'Acme Corporation' --user ada@acme.example"),
        },
      },
    ]);
  });

  it('gets no key where others can reach the server', () => {
    expect(said(false, { HOST: '0.0.0.0' }).logged.join('')).not.toContain('itsm_key');
    expect(said(false, { PUBLIC_URL: 'https://itsm.example.com' }).logged.join('')).not.toContain('itsm_key');
  });
});
