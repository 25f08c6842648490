import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { schemaScript } from '../../tools/schema-script.ts';
import { describeCatalog } from '../support/catalog.ts';
import { cloneDatabase, execute, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

const advice =
  'The migrations lead to another schema than test/rules/catalog.txt. If you meant to change it, run ' +
  '`npx -y pnpm@12.21.0 test catalog -u` and read the difference before you commit it.';

it('creates exactly the database objects in catalog.txt when all migrations run', async () => {
  await expect(await describeCatalog(database.url), advice).toMatchFileSnapshot('catalog.txt', advice);
});

it('creates the tables, columns, keys and indexes of schema.prisma when all migrations run', async () => {
  const migrated = filterPrismaLines(await describeCatalog(database.url));
  await execute(database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const schema = await readFile(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
  await execute(database.url, await schemaScript(database.url, undefined, schema));
  // If the test fails, `-` marks a line that only schema.prisma has, and `+` marks a line that only the migrations
  // have.
  expect(migrated).toEqual(filterPrismaLines(await describeCatalog(database.url)));
});

/**
 * Returns the lines of the database catalog that schema.prisma can describe. Excludes collations, CHECK constraints,
 * storage options and NOT NULL of arrays.
 */
function filterPrismaLines(catalog: string): string[] {
  const sections = catalog.split('\n\n').filter((section) => /^(Columns|Constraints|Indexes)\n/.test(section));
  return sections
    .flatMap((section) => section.split('\n'))
    .filter((line) => !line.includes('_prisma_migrations') && !line.includes(' CHECK ('))
    .map((line) =>
      line
        .replace(' collate "C"', '')
        .replace('[] not null', '[]')
        .replace(/ WITH \(.*?\)/, ''),
    );
}
