import { parseArgs } from 'node:util';
import { benchWebhooks } from './webhooks.ts';

/** What `pnpm bench` can measure: each prints its own result. */
const benches = { webhooks: benchWebhooks } as const;

const usage = `pnpm bench ${Object.keys(benches).join('|')} [--json] [--only part,part] [--profile folder]

See test/bench/README.md.
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, only: { type: 'string' }, profile: { type: 'string' } },
  });
  const bench = benches[positionals[0] as keyof typeof benches];
  if (bench === undefined) {
    process.stderr.write(usage);
    process.exitCode = 1;
    return;
  }
  // An exit lets what was started here be ended.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const { table, result } = await bench({
    only: values.only?.split(','),
    profile: values.profile,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : table);
}

await main();
