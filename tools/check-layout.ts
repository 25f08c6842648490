import { glob } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/* Checks the file layout that ARCHITECTURE.md describes. Usage: `node tools/check-layout.ts` */

const maxFilesPerFolder = 20;

/** File names that several folders may use, because each resource, page or command can have a file with such a name. */
const repeatable = [
  ...['queries', 'rules', 'presenter', 'sql', 'columns', 'csv', 'list', 'detail', 'fields', 'index'],
  ...[
    'activities',
    'articles',
    'audit',
    'cells',
    'comments',
    'completion',
    'custom-fields',
    'deliveries',
    'doctor',
    'keys',
    'links',
    'listen',
    'me',
    'migrate',
    'ping',
  ],
  ...['requests', 'secrets', 'seed', 'tasks', 'tenants', 'tickets', 'users', 'webhooks'],
];

/** Returns a message for each violation of the layout rules in a list of source files. */
function layoutFaults(files: readonly string[]): string[] {
  const folders = Map.groupBy(files, (file) => dirname(file));
  const crowded = [...folders].filter(([, { length }]) => length > maxFilesPerFolder);
  const misplaced = (folders.get('server/src') ?? []).filter((file) => !/\/(main|app)\.ts$/.test(file));
  const names = Map.groupBy(files, (file) => `${file.split('/')[0]}: ${basename(file)}`);
  const repeated = [...names].filter(([name, { length }]) => {
    return length > 1 && !repeatable.includes(name.replace(/^.*: /, '').replace(/\.\w+$/, ''));
  });
  return [
    ...crowded.map(
      ([folder, { length }]) => `${folder}: has ${length} files. Group them: at most ${maxFilesPerFolder} are allowed.`,
    ),
    ...misplaced.map((file) => `${file}: move it to a folder; only main.ts and app.ts are directly in server/src.`),
    ...repeated.map(([, same]) => `${same.join(', ')}: have the same name. Rename all but one.`),
  ];
}

if (import.meta.main) {
  const files: string[] = [];
  for await (const file of glob('{contract/src,server/src,client}/**/*.{ts,js,css}', {
    cwd: join(import.meta.dirname, '..'),
    exclude: (name) => /node_modules|^dist$/.test(name),
  })) {
    if (!/\/generated(-\w+)?\.ts$/.test(file)) files.push(file);
  }
  for (const fault of layoutFaults(files)) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}
