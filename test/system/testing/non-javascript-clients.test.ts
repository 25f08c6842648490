import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Itsm, startItsm } from '@itsm-api/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathOf, skipUnlessInstalled } from '../../support/programs.ts';
import { pythonClient, pythonEnvironment } from '../../support/python.ts';
import { skipUnless } from '../../support/skip-unless.ts';
import { runPytest } from './pytest.ts';

/** Runs the code for other languages in docs/guides/test-your-integration.md against a server on this machine. */
let itsm: Itsm;
let folder: string;

beforeAll(async () => {
  itsm = await startItsm({ retrySchedule: [50, 100, 200] });
  folder = await mkdtemp(join(tmpdir(), 'itsm-languages-'));
});
afterAll(async () => {
  await itsm.stop();
  await rm(folder, { recursive: true });
});

it('runs the tests in Python', skipUnlessInstalled(['pytest-3', 'pytest']), async () => {
  expect(await runPytest(itsm.url)).toContain('4 passed');
});

it('runs the tests with the Python client', skipUnlessInstalled(['pytest-3', 'pytest']), async () => {
  const program = join(import.meta.dirname, '../../../server/src/testing/index.ts');
  const args = [
    '-p',
    'no:cacheprovider',
    '-p',
    'itsm_api.testing',
    '--itsm-testing',
    program,
    'tests/testing_example.py',
  ];
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const { stdout } = await promisify(execFile)(pathOf(['pytest-3', 'pytest']), args, {
    cwd: pythonClient,
    env: { ...process.env, ...pythonEnvironment, PATH },
  });
  expect(stdout).toContain('2 passed');
});

/** Programs that create a workspace with the function in the guide, and print its number of tickets. */
const programs = [
  {
    language: 'java',
    command: ['java'],
    version: ['java', '--version'],
    file: 'Main.java',
    write: (code: string) => String.raw`
      import java.net.URI;
      import java.net.http.*;
      import java.net.http.HttpRequest.BodyPublishers;
      import java.net.http.HttpResponse.BodyHandlers;
      class Main {
        ${code}
        public static void main(String[] args) throws Exception {
          var main = new Main();
          var key = main.call("/testing/workspaces", "{}", "").replaceAll(".*\"key\":\"(.+?)\".*", "$1");
          var tickets = main.call("/api/public/v1/tickets", null, key);
          System.out.print(tickets.replaceAll(".*\"totalCount\":(\\d+).*", "$1"));
        }
      }`,
  },
  {
    language: 'go',
    command: ['go', 'run'],
    version: ['go', 'version'],
    file: 'main.go',
    write: (code: string) => `
      package main
      import ("encoding/json"; "fmt"; "net/http"; "strings")
      ${code}
      func main() {
        var workspace struct{ Key string }
        var tickets struct{ Meta struct{ TotalCount int } }
        if err := call("POST", "/testing/workspaces", "{}", "", &workspace); err != nil { panic(err) }
        if err := call("GET", "/api/public/v1/tickets", "", workspace.Key, &tickets); err != nil { panic(err) }
        fmt.Print(tickets.Meta.TotalCount)
      }`,
  },
  {
    language: 'csharp',
    command: ['dotnet', 'run'],
    // Earlier versions can't run a single file.
    version: ['sh', '-c', 'test "$(dotnet --version | cut -d . -f 1)" -ge 10'],
    file: 'main.cs',
    write: (code: string) => `
      using System.Text;
      using System.Text.Json.Nodes;
      var workspace = await Call("/testing/workspaces", "{}");
      var tickets = await Call("/api/public/v1/tickets", key: workspace!["key"]!.GetValue<string>());
      Console.Write(tickets!["meta"]!["totalCount"]);
      ${code}`,
  },
];

for (const { language, command, version, file, write } of programs) {
  const [program = '', ...versionArguments] = version;
  const isInstalled = spawnSync(program, versionArguments).status === 0;
  it(`runs the function for ${language}`, skipUnless(isInstalled, `No program runs ${language}.`), async () => {
    const guide = await readFile(join(import.meta.dirname, '../../../docs/guides/test-your-integration.md'), 'utf8');
    const [, code = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(guide) ?? [];
    const path = join(folder, file);
    await writeFile(path, write(code).replace('http://127.0.0.1:3900', itsm.url));
    const [name = '', ...options] = command;
    const { stdout } = await promisify(execFile)(name, [...options, path]);
    expect(stdout).toBe('0');
  });
}
