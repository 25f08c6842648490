import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../../support/fixture.ts';
import { pathOf, skipUnlessInstalled } from '../../support/programs.ts';
import { pythonClient, pythonEnvironment, runPython, skipUnlessPython } from '../../support/python.ts';
import { createWorkspace } from '../../support/workspace.ts';

let baseUrl: string;

it.beforeAll(async () => {
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});

/** The cache of mypy, which makes the second check fast. */
const cache = join(pythonClient, '../../test/node_modules/.cache/mypy');

/** Runs a program in the folder of the Python client. Returns its output, and throws an error with it if it fails. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: pythonClient,
    env: { ...pythonEnvironment, ...env },
  }).catch((error) => {
    throw new Error(error.stdout || error.message);
  });
  return stdout;
}

// Both tests run at the same time, because the tests in Python mostly wait.
it.concurrent('has correct types', skipUnlessInstalled(['mypy']), async () => {
  expect(await run(pathOf(['mypy']), ['--strict', '--cache-dir', cache, 'src', 'tests'])).toContain('no issues found');
});

it.concurrent('passes the tests in Python', skipUnlessInstalled(['pytest-3', 'pytest']), async () => {
  const env = {
    ITSM_URL: baseUrl,
    ITSM_KEY: workspace.key,
    ITSM_LIMITED_KEY: await workspace.createKey({ scopes: ['tickets:read'] }),
  };
  const output = await run(
    pathOf(['pytest-3', 'pytest']),
    ['-q', '--durations=5', '-p', 'no:cacheprovider', 'tests'],
    env,
  );
  expect(output).toMatch(/\d+ passed in/);
  expect(output).not.toContain('skipped');
});

it(
  'writes types with which a misspelled field, option or answer is an error',
  skipUnlessInstalled(['mypy']),
  async () => {
    const options = ['berlin', `it's "5" %\u202e`, 'old'].map((value) => ({ value, label: value }));
    const labels = ['Comment ends\n"""here', 'Site'];
    await workspace.createField({ key: 'rooms', type: 'MULTI_SELECT', label: labels[0], options });
    await workspace.createField({ key: 'site', type: 'SELECT', label: labels[1], required: true, options });
    await workspace.createField({ key: 'from', type: 'NUMBER', label: 'From', resource: 'ASSET' });
    const { context } = workspace;
    await updateCustomFieldDefinition(context, { resource: 'TICKET', key: 'site' }, { options: options.slice(0, 2) });
    await workspace.createForm({ key: 'new-laptop', fields: [{ key: 'site', required: true }] });
    const env = { ITSM_KEY: workspace.key };
    const { stdout } = await runPython(['-m', 'itsm_api', 'types', '--url', baseUrl], { env });
    const folder = await mkdtemp(join(tmpdir(), 'itsm-python-'));
    try {
      await writeFile(join(folder, 'itsm_fields.py'), stdout);
      await writeFile(
        join(folder, 'program.py'),
        `from itsm_fields import AssetFields, NewLaptopAnswers, TicketFields
from itsm_api import ItsmClient

client = ItsmClient("${baseUrl}")
fields: TicketFields = {"site": "berlin", "rooms": ["old"]}
client.tickets.update(1, {"customFields": fields})
asset: AssetFields = {"from": 3}
client.assets.update(1, {"customFields": asset})
wrong: TicketFields = {"site": "old"}
misspelled: AssetFields = {"form": 3}
answers: NewLaptopAnswers = {"site": "berlin"}
client.request_forms.submit("new-laptop", {"answers": answers})
unanswered: NewLaptopAnswers = {}
`,
      );
      const checked = await run(pathOf(['mypy']), ['--strict', '--cache-dir', cache, folder], {
        MYPYPATH: folder,
      }).catch((error: Error) => error.message);
      expect(checked.match(/program\.py:\d+: error/g)).toEqual([
        'program.py:9: error',
        'program.py:10: error',
        'program.py:13: error',
      ]);
      expect(checked).toContain('Found 3 errors in 1 file');
    } finally {
      await rm(folder, { recursive: true });
    }
    const wrong = await runPython(['-m', 'itsm_api', 'types'], { env: { ITSM_URL: baseUrl, ITSM_KEY: 'itsm_wrong' } });
    expect(wrong).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The API key is invalid.*\(INVALID_API_KEY, request \w+\)\n$/),
    });
    expect(await runPython(['-m', 'itsm_api', 'types', '--url', 'nowhere'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('base_url'),
    });
  },
);

describe('the README', skipUnlessPython(), () => {
  it('has a quick start and examples that run', async () => {
    const readme = await readFile(join(pythonClient, 'README.md'), 'utf8');
    const [quickStart = '', ...others] = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    const other = await createWorkspace(api);
    await other.createField({
      key: 'site',
      type: 'SELECT',
      label: 'Site',
      options: [{ value: 'berlin', label: 'Berlin' }],
    });
    const env = { ITSM_URL: baseUrl, ITSM_KEY: other.key };
    const folder = await mkdtemp(join(tmpdir(), 'itsm-readme-'));
    const context = `
from itsm_api.types import NewTicketItem
from itsm_api.testing import sign_test_event
rows: list[NewTicketItem] = [{"title": "Row", "description": "D", "type": "INCIDENT", "category": "OTHER"}]
stored_cursor: str | None = None
secret = "a secret of the test, long enough"
raw_body, headers = sign_test_event({"type": "ticket.created", "ticket": ticket}, secret)
`;
    try {
      await writeFile(join(folder, 'quick_start.py'), quickStart);
      const started = await runPython(['quick_start.py'], { cwd: folder, env });
      expect(started).toEqual({ code: 0, stdout: 'INC-1 OPEN\nINC-1 VPN drops every ten minutes\n', stderr: '' });
      const types = await runPython(['-m', 'itsm_api', 'types'], { env });
      await writeFile(join(folder, 'itsm_fields.py'), types.stdout);
      await writeFile(join(folder, 'trace.log'), 'Connection lost.');
      await writeFile(join(folder, 'readme.py'), quickStart + context + others.join(''));
      const { code, stderr, stdout } = await runPython(['readme.py'], { cwd: folder, env });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain("status can't change from OPEN to CLOSED");
      expect(await readFile(join(folder, 'copy.log'), 'utf8')).toBe('Connection lost.');
      const checked = await run(pathOf(['mypy']), ['--strict', '--cache-dir', cache, folder], { MYPYPATH: folder });
      expect(checked).toContain('no issues found');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('and other texts do not install the package by its name, because it is not published', async () => {
    const install = String.raw`pip3? install (-\S+ )*itsm[-_]api`;
    const args = ['grep', '--untracked', '-lE', install, '--', ':/', ':!/test'];
    await expect(promisify(execFile)('git', args, { cwd: pythonClient })).rejects.toMatchObject({
      code: 1,
      stdout: '',
    });
  });
});
