// This project has its own check, because squawk-cli 2.66 reports only 14 of the 24 hazards in
// test/rules/migrations.test.ts.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'libpg-query';
import { concurrentMarker, readMigrations } from '../server/src/database/migrations/migration-history.ts';

/*
 * Checks that migrations support rolling upgrades (docs/decisions/schema-migrations.md): the previous release must run
 * on the new schema, and no migration may hold a lock for long.
 * Usage: `node tools/check-migrations.ts`
 */

/**
 * Matches the comment that allows a migration to remove objects. The comment names a release that no longer uses these
 * objects.
 */
const marker = /^-- contract: unused since (\S+)[^\S\n]*$/m;
/** Matches the comment that allows the same before the first release, because there are no rolling upgrades yet. */
const unreleasedMarker = /^-- contract: not released[^\S\n]*$/m;

/** The nodes of PostgreSQL's syntax tree that this check reads. */
interface Statement {
  AlterTableStmt?: { objtype: string; relation: Relation; cmds: { AlterTableCmd: Command }[] };
  AlterEnumStmt?: { newVal?: string };
  AlterObjectSchemaStmt?: { objectType: string };
  CreateFunctionStmt?: { funcname: Name[]; replace?: boolean };
  CreatePolicyStmt?: { table: Relation };
  CreateStmt?: { relation: Relation; if_not_exists?: boolean; tableElts?: Element[] };
  CreateTrigStmt?: { relation: Relation; replace?: boolean };
  DoStmt?: { args: { DefElem: { defname: string; arg?: { String?: { sval: string } } } }[] };
  DropStmt?: { removeType: string; objects: { List?: { items: Name[] } }[]; concurrent?: boolean };
  GrantStmt?: { is_grant?: boolean; objects?: { ObjectWithArgs?: { objname: Name[] } }[] };
  IndexStmt?: { relation: Relation; concurrent?: boolean };
  LockStmt?: { relations: { RangeVar: Relation }[] };
  RenameStmt?: { renameType: string; relation?: Relation; subname?: string; newname: string };
  SelectStmt?: { targetList?: { ResTarget: { val: { FuncCall?: Call } } }[] };
  TruncateStmt?: { relations: { RangeVar: Relation }[] };
}

interface Name {
  String: { sval: string };
}

/** A call of a function. The list has the values of arguments that are constants. */
interface Call {
  funcname: Name[];
  args?: { A_Const?: { sval?: { sval: string } } }[];
}

interface Relation {
  relname: string;
}

interface Command {
  subtype: string;
  name?: string;
  missing_ok?: boolean;
  def?: Element;
}

interface Element {
  ColumnDef?: { colname: string; typeName: { names: Name[] }; constraints?: { Constraint: Constraint }[] };
  Constraint?: Constraint;
}

interface Constraint {
  contype: string;
  conname?: string;
  /** True if the constraint is NOT VALID, so PostgreSQL doesn't check existing rows. */
  skip_validation?: boolean;
  /** The table that a foreign key references. Adding the foreign key locks this table as well. */
  pktable?: Relation;
}

/**
 * Returns a message for each violation in a migration: a change that breaks the previous release, or a long lock.
 * @param releases the published versions, from docs/changelog.md
 */
export async function faultsOf(name: string, script: string, releases: string[]) {
  // Appends a semicolon, because the parser rejects an empty script.
  const { stmts = [] } = await parse(`${script};`);
  const statements = stmts.map(({ stmt }) => stmt as Statement);
  // Tables and functions that the migration creates need no check, because no other session uses them yet.
  const own = new Set<string | undefined>(
    statements.flatMap(({ CreateStmt: table, CreateFunctionStmt: created }) => {
      return table?.relation.relname ?? nameOf(created?.funcname) ?? [];
    }),
  );
  const others = statements.filter(({ AlterTableStmt: altered }) => !own.has(altered?.relation.relname));
  const isOutside = script.startsWith(concurrentMarker);
  const locks = [
    ...others.flatMap((statement) => blockingFaults(statement, own, isOutside)),
    ...(isOutside ? others.flatMap(repetitionFaults) : transactionFaults(statements, own)),
  ];
  const breaks = others.flatMap((statement) => breaksOf(statement, own));
  const addName = (faults: string[]) => faults.map((fault) => `${name}: ${fault}.`);
  return { contract: addName(contractFaults(breaks, script, releases)), locks: addName(locks) };
}

function contractFaults(breaks: string[], script: string, releases: string[]): string[] {
  if (breaks.length === 0 || (releases.length === 0 && unreleasedMarker.test(script))) return [];
  const since = marker.exec(script)?.[1];
  if (since === undefined) {
    const advice = 'Expand now; remove it in a later migration, with the line `-- contract: unused since <release>`';
    return breaks.map((fault) => `${fault}. ${advice}`);
  }
  return releases.includes(since) ? [] : [`${since} is not a release in docs/changelog.md`];
}

/**
 * The types of objects that programs name in SQL statements. If a migration removes such an object, these statements
 * fail. Programs don't name indexes, triggers, policies and constraints, so the list doesn't contain them.
 */
const named = ['TABLE', 'COLUMN', 'VIEW', 'MATVIEW', 'TYPE', 'DOMAIN', 'ATTRIBUTE', 'SEQUENCE', 'SCHEMA', 'FUNCTION'];

/** Matches breaking changes in the body of a DO block, which the parser doesn't parse. */
const hidden =
  /\b(DROP\s+(TABLE|COLUMN|VIEW|TYPE|DOMAIN|SEQUENCE|SCHEMA|FUNCTION|DEFAULT)|RENAME|SET\s+(NOT\s+NULL|SCHEMA|DATA\s+TYPE)|ALTER\s+(COLUMN\s+)?\S+\s+TYPE|REVOKE)\b/i;

/** Returns a message for each breaking change in a statement. A breaking change makes the previous release fail. */
function breaksOf(statement: Statement, own: Set<string | undefined>): string[] {
  const { AlterTableStmt, AlterEnumStmt, AlterObjectSchemaStmt, DoStmt, DropStmt, GrantStmt, RenameStmt } = statement;
  const isNamed = (type: string) => named.includes(type.replace('OBJECT_', ''));
  const wordOf = (type: string) => type.replace('OBJECT_', '').toLowerCase();
  if (AlterTableStmt !== undefined) {
    const table = AlterTableStmt.relation.relname;
    return AlterTableStmt.cmds.flatMap(({ AlterTableCmd: command }) => breakOf(command, table) ?? []);
  }
  if (DropStmt !== undefined && isNamed(DropStmt.removeType)) return [`drops a ${wordOf(DropStmt.removeType)}`];
  if (RenameStmt !== undefined && isNamed(RenameStmt.renameType) && !own.has(RenameStmt.relation?.relname)) {
    const { renameType, relation, subname, newname } = RenameStmt;
    const old = [relation?.relname, subname].filter(Boolean).join('.');
    return [['renames the', wordOf(renameType), old, 'to', newname].filter(Boolean).join(' ')];
  }
  if (AlterObjectSchemaStmt !== undefined && isNamed(AlterObjectSchemaStmt.objectType)) {
    return [`moves a ${wordOf(AlterObjectSchemaStmt.objectType)} to another schema`];
  }
  if (AlterEnumStmt !== undefined) return [`adds the enum value ${AlterEnumStmt.newVal}, which it can't read`];
  if (GrantStmt !== undefined && GrantStmt.is_grant !== true) {
    const from = (GrantStmt.objects ?? []).map(({ ObjectWithArgs }) => nameOf(ObjectWithArgs?.objname));
    return from.every((name) => own.has(name)) ? [] : ['revokes a right'];
  }
  const body = DoStmt?.args.find(({ DefElem }) => DefElem.defname === 'as')?.DefElem.arg?.String?.sval ?? '';
  const found = hidden.exec(body)?.[0];
  return found === undefined ? [] : [`has ${found.toUpperCase()} in a DO block`];
}

function breakOf({ subtype, name, def }: Command, table: string): string | undefined {
  const column = `${table}.${name ?? def?.ColumnDef?.colname}`;
  if (subtype === 'AT_DropColumn') return `drops the column ${column}`;
  if (subtype === 'AT_AlterColumnType') return `changes the type of ${column}`;
  if (subtype === 'AT_SetNotNull') return `makes ${column} NOT NULL`;
  if (subtype === 'AT_ColumnDefault' && def === undefined) return `drops the default of ${column}`;
  if (subtype === 'AT_AddColumn' && isRequired(def)) return `adds ${column} NOT NULL without a default`;
  if (def?.Constraint?.contype === 'CONSTR_NOTNULL') return `makes a column of ${table} NOT NULL`;
  return undefined;
}

/**
 * Returns true if a new column needs a value in each INSERT. The previous release doesn't set the column, so its INSERT
 * statements would fail.
 */
function isRequired({ ColumnDef }: Element = {}): boolean {
  const types = (ColumnDef?.constraints ?? []).map(({ Constraint }) => Constraint.contype);
  const isFilled =
    types.some((type) => ['CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED'].includes(type)) ||
    /serial\d?$/.test(nameOf(ColumnDef?.typeName.names) ?? '');
  return !isFilled && types.some((type) => ['CONSTR_NOTNULL', 'CONSTR_PRIMARY'].includes(type));
}

/** Returns a message if a statement locks a table while PostgreSQL reads all rows of the table. */
function blockingFaults(statement: Statement, own: Set<string | undefined>, isOutside: boolean): string[] {
  const { AlterTableStmt, IndexStmt } = statement;
  if (IndexStmt !== undefined && !own.has(IndexStmt.relation.relname)) {
    if (IndexStmt.concurrent !== true)
      return [`blocks writes to ${IndexStmt.relation.relname} while it builds an index. Build it CONCURRENTLY`];
    return isOutside ? [] : [`builds an index CONCURRENTLY in a transaction. Begin it with \`${concurrentMarker}\``];
  }
  const checks = (AlterTableStmt?.cmds ?? []).filter(({ AlterTableCmd: { subtype, def } }) => {
    const { contype, skip_validation } = def?.Constraint ?? {};
    return subtype === 'AT_AddConstraint' && contype === 'CONSTR_CHECK' && skip_validation !== true;
  });
  const table = AlterTableStmt?.relation.relname;
  return checks.map(() => `locks ${table} while it checks all rows. Add the CHECK as NOT VALID, and validate it later`);
}

/**
 * Returns a message if a migration locks several tables in one transaction. A transaction holds all its locks until it
 * ends.
 */
function transactionFaults(statements: Statement[], own: Set<string | undefined>): string[] {
  const tables = [...new Set(statements.flatMap(lockedBy))].filter((table) => !own.has(table));
  if (tables.length < 2) return [];
  const advice = `Write a migration for each, or commit each statement: begin it with \`${concurrentMarker}\``;
  return [`locks ${tables.join(', ')} in one transaction. ${advice}`];
}

/** The ALTER TABLE commands that block neither reads nor writes. */
const gentle = ['AT_ValidateConstraint', 'AT_SetRelOptions', 'AT_ResetRelOptions', 'AT_SetStatistics'];

/** Returns the names of the tables to which a statement blocks writes. */
function lockedBy(statement: Statement): string[] {
  const { AlterTableStmt, CreateStmt, DropStmt, RenameStmt } = statement;
  if (AlterTableStmt?.objtype === 'OBJECT_TABLE') {
    const commands = AlterTableStmt.cmds.map(({ AlterTableCmd }) => AlterTableCmd);
    if (commands.every(({ subtype }) => gentle.includes(subtype))) return [];
    return [AlterTableStmt.relation.relname, ...commands.flatMap(({ def }) => referredBy(def))];
  }
  if (CreateStmt !== undefined) return (CreateStmt.tableElts ?? []).flatMap(referredBy);
  if (DropStmt !== undefined && DropStmt.concurrent !== true) return droppedFrom(DropStmt);
  if (RenameStmt?.relation !== undefined && RenameStmt.renameType !== 'OBJECT_INDEX')
    return [RenameStmt.relation.relname];
  const altered = callsOf(statement).flatMap(({ args = [] }) => args[0]?.A_Const?.sval?.sval ?? []);
  const whole = statement.LockStmt?.relations ?? statement.TruncateStmt?.relations ?? [];
  const one = statement.CreateTrigStmt?.relation ?? statement.CreatePolicyStmt?.table;
  return [...altered, ...whole.map(({ RangeVar }) => RangeVar.relname), ...(one === undefined ? [] : [one.relname])];
}

/** Returns the calls of functions that alter the table in their first argument (CONTRIBUTING.md). */
function callsOf({ SelectStmt }: Statement): Call[] {
  const calls = (SelectStmt?.targetList ?? []).flatMap(({ ResTarget }) => ResTarget.val.FuncCall ?? []);
  return calls.filter(({ funcname }) => ['protect_table', 'add_change_feed'].includes(nameOf(funcname) ?? ''));
}

function referredBy(element: Element = {}): string[] {
  const constraints = [element.Constraint, ...(element.ColumnDef?.constraints ?? []).map((each) => each.Constraint)];
  return constraints.flatMap((constraint) => constraint?.pktable?.relname ?? []);
}

function droppedFrom({ removeType, objects }: NonNullable<Statement['DropStmt']>): string[] {
  return objects.flatMap(({ List }) => {
    const names = (List?.items ?? []).map(({ String: { sval } }) => sval);
    if (removeType === 'OBJECT_INDEX') return [`the table of ${names.at(-1)}`];
    if (removeType === 'OBJECT_TABLE') return names.slice(-1);
    return ['OBJECT_TRIGGER', 'OBJECT_POLICY'].includes(removeType) ? names.slice(-2, -1) : [];
  });
}

/**
 * Returns a message for each part of a statement that fails if the statement runs again. After an interruption, a
 * script without a transaction runs again from the start, including its committed statements.
 */
function repetitionFaults(statement: Statement): string[] {
  const { AlterTableStmt, CreateFunctionStmt, CreateStmt, CreateTrigStmt } = statement;
  const commands = (AlterTableStmt?.cmds ?? []).map(({ AlterTableCmd }) => AlterTableCmd);
  const isDropped = (constraint: string | undefined) =>
    commands.some(
      ({ subtype, name, missing_ok }) => subtype === 'AT_DropConstraint' && missing_ok && name === constraint,
    );
  const advice = [
    CreateTrigStmt && !CreateTrigStmt.replace && 'CREATE OR REPLACE TRIGGER',
    CreateFunctionStmt && !CreateFunctionStmt.replace && 'CREATE OR REPLACE FUNCTION',
    CreateStmt && !CreateStmt.if_not_exists && 'CREATE TABLE IF NOT EXISTS',
    ...callsOf(statement).map(({ funcname }) => `${nameOf(funcname)} in a migration with a transaction`),
    ...commands.map(({ subtype, missing_ok, def }) => {
      if (subtype === 'AT_AddColumn') return !missing_ok && 'ADD COLUMN IF NOT EXISTS';
      return (
        subtype === 'AT_AddConstraint' && !isDropped(def?.Constraint?.conname) && 'DROP CONSTRAINT IF EXISTS before it'
      );
    }),
  ];
  return advice.filter(Boolean).map((each) => `can't be repeated after an interruption. Write ${each}`);
}

/** Returns a name without its schema. */
function nameOf(name: Name[] | undefined): string | undefined {
  return name?.at(-1)?.String.sval;
}

if (import.meta.main) {
  const changelog = await readFile(join(import.meta.dirname, '../docs/changelog.md'), 'utf8');
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/gm)].map(
    ([, version = '']) => version,
  );
  for (const { name, script } of await readMigrations()) {
    const { contract, locks } = await faultsOf(name, script, releases);
    for (const fault of [...contract, ...locks]) {
      process.stderr.write(`${fault}\n`);
      process.exitCode = 1;
    }
  }
}
