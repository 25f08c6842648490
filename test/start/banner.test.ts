import { readSettings } from '@itsm-api/server/config/env.ts';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { printBanner } from '@itsm-api/server/process/startup-banner.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';

/** Tests the startup banner. On a terminal, the server prints the banner as text. Otherwise, it writes one log line. */
const { isTTY } = process.stdout;
afterEach(() => {
  process.stdout.isTTY = isTTY;
  vi.restoreAllMocks();
});

const demo = { tenant: 'Acme Corporation', adminEmail: 'ada@acme.example', key: 'itsm_key', invitation: '1.token' };

/** Prints the startup banner with or without a terminal. Returns the printed text and the log lines. */
function capture(isTerminal: boolean, env: Record<string, string> = {}): { printed: string; logged: string[] } {
  process.stdout.isTTY = isTerminal;
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

describe('the banner on a terminal', () => {
  it('prints the API address, the demo API key and a sample request on a terminal', () => {
    const { printed, logged } = capture(true);
    expect(logged).toEqual([]);
    // The banner starts with the most important information and omits connection details.
    expect(printed).toMatch(/running\..+itsm_key\n.+token=1\.token\n.+ {2}API /s);
    expect(printed).not.toContain('connections');
    expect(printed).toMatch(/^ {2}The ITSM API is running\.$/m);
    expect(printed).toMatch(/^ {2}API {4}http:\/\/127\.0\.0\.1:3000\/api\/public\/v1$/m);
    expect(printed).toMatch(/^ {4}itsm_key$/m);
    expect(printed).toMatch(/^ {4}curl -H 'Authorization: Bearer itsm_key' 'http:\S+\/tickets\?perPage=3'$/m);
    // The link contains localhost, because browsers create no passkeys for IP addresses.
    expect(printed).toMatch(/^ {4}http:\/\/localhost:3000\/developer\/join\?token=1\.token$/m);
  });

  it('prints no API key on a terminal if other hosts can reach the server', () => {
    expect(capture(true, { HOST: '0.0.0.0' }).printed).not.toMatch(/itsm_key|1\.token/);
    expect(capture(true, { PUBLIC_URL: 'https://itsm.example.com' }).printed).not.toMatch(/itsm_key|1\.token/);
  });
});

describe('the banner in a log', () => {
  it('logs the startup banner in one line at any log level', () => {
    const { printed, logged } = capture(false);
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

  it('logs no API key if other hosts can reach the server', () => {
    expect(capture(false, { HOST: '0.0.0.0' }).logged.join('')).not.toContain('itsm_key');
    expect(capture(false, { PUBLIC_URL: 'https://itsm.example.com' }).logged.join('')).not.toContain('itsm_key');
  });
});
