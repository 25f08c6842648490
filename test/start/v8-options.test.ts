import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { v8Options } from '../../testing/src/v8-options.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Returns the options of Node.js before each path of a program in a text. */
function optionsBefore(program: RegExp, text: string): string[][] {
  const commands = [...text.matchAll(new RegExp(String.raw`\bnode\b([^]*?)\b${program.source}`, 'g'))];
  return commands.map(([, between = '']) => between.match(/--[\w-]+(=\w+)?/g) ?? []);
}

it('runs the server with the same options of V8 in each place', async () => {
  const { start, watch, debug } = JSON.parse(await read('package.json')).scripts;
  const instructions = (await read('Dockerfile')).replaceAll('\\\n', '').matchAll(/^(?:CMD|ENTRYPOINT) .*$/gm);
  // The image for alerts runs another program.
  const commands = Array.from(instructions, ([command]) => command).filter((command) => command.includes('server/'));
  const server = /server\/src\/(main|testing\/index)\.ts/;
  expect(optionsBefore(server, start)).toEqual([v8Options]);
  expect(optionsBefore(server, watch)).toEqual([['--watch', ...v8Options]]);
  expect(optionsBefore(server, debug)).toEqual([['--inspect', ...v8Options]]);
  expect(commands.map((command) => optionsBefore(server, command))).toEqual([[v8Options], [v8Options]]);
  for (const unit of ['itsm-api@', 'itsm-worker']) {
    const [, start = ''] = /^ExecStart=(.*?[^\\])$/ms.exec(await read(`deploy/systemd/${unit}.service`)) ?? [];
    expect(optionsBefore(server, start), unit).toEqual([v8Options]);
  }
});

it('sets no options of V8 for commands, in compose.yaml, or while a process runs', async () => {
  expect(optionsBefore(/server\/src\/cli\/index\.ts/, await read('itsm'))).toEqual([[]]);
  expect(await read('compose.yaml')).not.toMatch(/--(no-|expose-gc|max-)/);
  for (const file of ['main.ts', 'cli/index.ts', 'shared/buffer-collector.ts', 'testing/index.ts']) {
    expect(await read(`server/src/${file}`), file).not.toContain('setFlagsFromString');
  }
});
