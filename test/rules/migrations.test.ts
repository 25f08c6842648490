import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../tools/check-migrations.ts';

const faultsIn = (script: string) => faultsOf('20270101000000_change', script, ['1.0.0', '1.1.0']);
const faults = async (script: string) => (await faultsIn(script)).contract;

describe('the contract check of migrations', () => {
  it.each([
    ['DROP TABLE "assets"', 'drops a table'],
    ['DROP TYPE "AssetType"', 'drops a type'],
    ['DROP FUNCTION f(int)', 'drops a function'],
    ['ALTER TABLE "assets" DROP COLUMN "tag"', 'drops the column assets.tag'],
    ['alter table assets\n  add x int,\n  drop tag', 'drops the column assets.tag'],
    ['ALTER TABLE assets RENAME COLUMN tag TO label', 'renames the column assets.tag to label'],
    ['ALTER TABLE assets RENAME tag TO label', 'renames the column assets.tag to label'],
    ['ALTER TABLE assets RENAME TO things', 'renames the table assets to things'],
    ['ALTER TYPE "AssetType" RENAME TO "Kind"', 'renames the type to Kind'],
    ['ALTER TYPE "AssetType" ADD VALUE \'DRONE\'', 'adds the enum value DRONE'],
    ['ALTER TABLE assets SET SCHEMA old', 'moves a table to another schema'],
    ['ALTER TABLE assets ALTER tag TYPE varchar(20)', 'changes the type of assets.tag'],
    ['ALTER TABLE assets ALTER COLUMN tag SET DATA TYPE text', 'changes the type of assets.tag'],
    ['ALTER TABLE assets ADD COLUMN place text NOT NULL', 'adds assets.place NOT NULL without a default'],
    ['ALTER TABLE assets ADD COLUMN place bigint PRIMARY KEY', 'adds assets.place NOT NULL without a default'],
    ['ALTER TABLE assets ALTER place SET NOT NULL', 'makes assets.place NOT NULL'],
    ['ALTER TABLE assets ADD CONSTRAINT c NOT NULL place', 'makes a column of assets NOT NULL'],
    ['ALTER TABLE assets ALTER place DROP DEFAULT', 'drops the default of assets.place'],
    ['REVOKE INSERT ON assets FROM itsm_request', 'revokes a right'],
    ['REVOKE ALL ON FUNCTION f(int) FROM PUBLIC', 'revokes a right'],
    ["DO $$ BEGIN EXECUTE 'ALTER TABLE assets DROP COLUMN tag'; END $$", 'has DROP COLUMN in a DO block'],
  ])('rejects a migration that contains %s but no contract marker', async (script, fault) => {
    const found = await faults(`-- A change.\n${script};\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`20270101000000_change: ${fault}`);
    expect(found[0]).toContain('-- contract: unused since <release>');
    expect(await faults(`-- A change.\n-- contract: unused since 1.1.0\n${script};\n`)).toEqual([]);
  });

  it.each([
    'CREATE TABLE things (id bigint NOT NULL); ALTER TABLE things ALTER id TYPE int, DROP COLUMN id',
    "ALTER TABLE assets ADD COLUMN place text NOT NULL DEFAULT ''",
    'ALTER TABLE assets ADD COLUMN place text',
    'ALTER TABLE assets ADD COLUMN n int GENERATED ALWAYS AS IDENTITY, ADD m bigserial NOT NULL',
    "ALTER TABLE assets ALTER place SET DEFAULT '', ALTER place DROP NOT NULL",
    'ALTER TABLE assets DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (n > 0) NOT VALID',
    'DROP INDEX i; DROP TRIGGER t ON assets; DROP POLICY p ON assets; ALTER INDEX a RENAME TO b',
    "-- DROP TABLE assets\nINSERT INTO notes VALUES ('ALTER TABLE assets DROP COLUMN tag')",
    'CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    'GRANT SELECT ON assets TO itsm_request',
    'CREATE FUNCTION f(int) RETURNS int LANGUAGE sql RETURN 1; REVOKE ALL ON FUNCTION f(int) FROM PUBLIC',
    '-- outside of a transaction\nCREATE INDEX CONCURRENTLY i ON assets (tag);\n',
    '',
  ])('requires no contract marker for a migration with %s', async (script) => {
    expect(await faults(script)).toEqual([]);
  });

  it('allows the marker `not released` only before the first release', async () => {
    const script = '-- contract: not released\nALTER TABLE assets DROP COLUMN tag;';
    expect((await faultsOf('20260101000000_change', script, [])).contract).toEqual([]);
    expect((await faultsOf('20260101000000_change', script, ['1.0.0'])).contract).toHaveLength(1);
  });

  it('rejects a contract marker without a released version', async () => {
    const drop = 'ALTER TABLE assets DROP COLUMN tag;';
    expect(await faults(`-- contract: unused since 1.2.0\n${drop}`)).toEqual([
      '20270101000000_change: 1.2.0 is not a release in docs/changelog.md.',
    ]);
    expect(await faults(`-- contract: unused\n${drop}`)).toHaveLength(1);
    expect(await faults(`SELECT '-- contract: unused since 1.1.0'; ${drop}`)).toHaveLength(1);
  });
});

describe('the lock check of migrations', () => {
  const lockFaults = async (script: string) => (await faultsIn(`${script};\n`)).locks;
  const outside = '-- outside of a transaction\n';

  it.each([
    ['ALTER TABLE assets ADD a int; ALTER TABLE users ADD a int', 'locks assets, users in one transaction'],
    ['CREATE TRIGGER a AFTER INSERT ON tasks EXECUTE FUNCTION f(); LOCK TABLE users', 'locks tasks, users in one'],
    ['CREATE POLICY p ON tasks; DROP TRIGGER a ON public.users; DROP INDEX i', 'locks tasks, users, the table of i in'],
    ['ALTER TABLE tasks ADD FOREIGN KEY (a) REFERENCES users', 'locks tasks, users in one transaction'],
    ['CREATE TABLE things (a int REFERENCES users, FOREIGN KEY (a) REFERENCES tasks)', 'locks users, tasks in one'],
    ["SELECT protect_table('tasks', 'SELECT'), add_change_feed('users')", 'locks tasks, users in one transaction'],
    ['CREATE INDEX i ON assets (tag)', 'blocks writes to assets while it builds an index'],
    [`${outside}CREATE UNIQUE INDEX i ON assets (tag)`, 'blocks writes to assets while it builds an index'],
    ['CREATE INDEX CONCURRENTLY i ON assets (tag)', 'builds an index CONCURRENTLY in a transaction'],
    ['ALTER TABLE assets ADD CONSTRAINT c CHECK (a > 0)', 'locks assets while it checks all rows'],
    [`${outside}CREATE TRIGGER a AFTER INSERT ON tasks EXECUTE FUNCTION f()`, 'Write CREATE OR REPLACE TRIGGER'],
    [`${outside}CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1`, 'Write CREATE OR REPLACE FUNCTION'],
    [`${outside}SELECT add_change_feed('things')`, 'Write add_change_feed in a migration with a transaction'],
    [`${outside}CREATE TABLE things ()`, 'Write CREATE TABLE IF NOT EXISTS'],
    [`${outside}ALTER TABLE assets ADD COLUMN a int`, 'Write ADD COLUMN IF NOT EXISTS'],
    [
      `${outside}ALTER TABLE assets ADD CONSTRAINT c CHECK (a > 0) NOT VALID`,
      'Write DROP CONSTRAINT IF EXISTS before it',
    ],
  ])('reports a locking problem of a migration with %s', async (script, fault) => {
    const found = await lockFaults(script);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(fault);
  });

  it.each([
    'ALTER TABLE assets ADD a int; CREATE TRIGGER t AFTER INSERT ON assets EXECUTE FUNCTION f()',
    'CREATE TABLE things (a int REFERENCES users); CREATE INDEX i ON things (a); ALTER TABLE things ADD b int',
    "CREATE TABLE things (a int REFERENCES users); SELECT protect_table('things', 'SELECT'), add_change_feed('things')",
    'ALTER TABLE assets ADD a int; ALTER TABLE users VALIDATE CONSTRAINT c; ALTER TABLE tasks SET (fillfactor = 50)',
    `${outside}ALTER TABLE assets ADD COLUMN IF NOT EXISTS a int; ALTER TABLE users ADD COLUMN IF NOT EXISTS a int`,
    `${outside}ALTER TABLE tasks DROP CONSTRAINT IF EXISTS c, ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES users NOT VALID`,
    'ALTER TABLE assets ADD CONSTRAINT c CHECK (a > 0) NOT VALID',
    'CREATE TABLE things (a int); ALTER TABLE things ADD CONSTRAINT c CHECK (a > 0)',
    `${outside}CREATE INDEX CONCURRENTLY i ON assets (tag); DROP INDEX CONCURRENTLY j; CALL fill()`,
    `${outside}CREATE OR REPLACE TRIGGER t AFTER INSERT ON assets EXECUTE FUNCTION f()`,
  ])('reports no locking problem for a migration with %s', async (script) => {
    expect(await lockFaults(script)).toEqual([]);
  });
});
