import { expect, it } from 'vitest';
import { describeCatalog } from '../support/catalog.ts';
import { cloneDatabase } from '../support/database.ts';

const advice =
  'The migrations lead to another schema than test/rules/catalog.txt. If you meant to change it, run ' +
  '`npx -y pnpm@12 test catalog -u` and read the difference before you commit it.';

it('leads to the tables, functions, policies and rights of catalog.txt', async () => {
  const database = await cloneDatabase();
  try {
    await expect(await describeCatalog(database.url), advice).toMatchFileSnapshot('catalog.txt', advice);
  } finally {
    await database.drop();
  }
});
