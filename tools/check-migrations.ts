import { glob, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'libpg-query';
import { lockFaultsOf } from './migration-locks.ts';

/*
 * Holds the rules of rolling upgrades (docs/decisions/upgrades.md): the release before runs on the new schema, and isn't
 * held up while it is made.
 * `node tools/check-migrations.ts`
 */

/** The last migration of before the rule. */
const before = '20261121000200_outbox';

/** The line by which a migration takes away what a release no longer uses. */
const marker = /^-- contract: unused since (\S+)[^\S\n]*$/m;

/** The syntax tree as PostgreSQL's parser gives it, as far as it is looked at. */
interface Statement {
  AlterTableStmt?: { relation: Relation; cmds: { AlterTableCmd: Command }[] };
  AlterEnumStmt?: { newVal?: string };
  AlterObjectSchemaStmt?: { objectType: string; relation?: Relation };
  CreateFunctionStmt?: { funcname: Name[] };
  CreateStmt?: { relation: Relation };
  DoStmt?: { args: { DefElem: { defname: string; arg?: { String?: { sval: string } } } }[] };
  DropStmt?: { removeType: string };
  GrantStmt?: { is_grant?: boolean; objects?: { ObjectWithArgs?: { objname: Name[] } }[] };
  RenameStmt?: { renameType: string; relation?: Relation; subname?: string; newname: string };
}

interface Name {
  String: { sval: string };
}

interface Relation {
  relname: string;
}

interface Command {
  subtype: string;
  name?: string;
  def?: { ColumnDef?: Column; Constraint?: Constraint };
}

interface Column {
  colname: string;
  typeName: { names: { String: { sval: string } }[] };
  constraints?: { Constraint: Constraint }[];
}

interface Constraint {
  contype: string;
}

/** What programs name in their statements. Indexes, triggers, policies and constraints they don't. */
const named = ['TABLE', 'COLUMN', 'VIEW', 'MATVIEW', 'TYPE', 'DOMAIN', 'ATTRIBUTE', 'SEQUENCE', 'SCHEMA', 'FUNCTION'];

/** What a DO block may hide from the parser. */
const hidden =
  /\b(DROP\s+(TABLE|COLUMN|VIEW|TYPE|DOMAIN|SEQUENCE|SCHEMA|FUNCTION|DEFAULT)|RENAME|SET\s+(NOT\s+NULL|SCHEMA|DATA\s+TYPE)|ALTER\s+(COLUMN\s+)?\S+\s+TYPE|REVOKE)\b/i;

/**
 * What the release before could not live with in a migration, a line each; none where all is well.
 * @param releases the versions that were released
 */
export async function faultsOf(name: string, script: string, releases: string[]): Promise<string[]> {
  // The parser refuses what is empty.
  const { stmts = [] } = await parse(`${script};`);
  const statements = stmts.map(({ stmt }) => stmt as Statement);
  // Nobody knows the tables and functions that the migration itself makes.
  const own = new Set(
    statements.flatMap(({ CreateStmt, CreateFunctionStmt }) => {
      return CreateStmt?.relation.relname ?? nameOf(CreateFunctionStmt?.funcname) ?? [];
    }),
  );
  const faults = statements.flatMap((statement) => breaksIn(statement, own));
  if (faults.length === 0) return [];
  const since = marker.exec(script)?.[1];
  if (since === undefined) {
    const advice = 'Expand now; take away in a later migration, with the line `-- contract: unused since <release>`.';
    return faults.map((fault) => `${name}: ${fault}. ${advice}`);
  }
  if (releases.includes(since)) return [];
  return [`${name}: ${since} is not released: what it no longer uses, the release before it does.`];
}

function breaksIn(statement: Statement, own: Set<string>): string[] {
  const { AlterTableStmt, AlterEnumStmt, AlterObjectSchemaStmt, DoStmt, DropStmt, GrantStmt, RenameStmt } = statement;
  if (AlterTableStmt !== undefined) {
    const { relation, cmds } = AlterTableStmt;
    if (own.has(relation.relname)) return [];
    return cmds.flatMap(({ AlterTableCmd: command }) => breakOf(command, relation.relname) ?? []);
  }
  if (DropStmt !== undefined && isNamed(DropStmt.removeType)) return [`drops a ${wordOf(DropStmt.removeType)}`];
  if (RenameStmt !== undefined && isNamed(RenameStmt.renameType) && !own.has(RenameStmt.relation?.relname ?? '')) {
    const { renameType, relation, subname, newname } = RenameStmt;
    const old = [relation?.relname, subname].filter(Boolean).join('.');
    return [['renames the', wordOf(renameType), old, 'to', newname].filter(Boolean).join(' ')];
  }
  if (AlterObjectSchemaStmt !== undefined && isNamed(AlterObjectSchemaStmt.objectType)) {
    return [`moves a ${wordOf(AlterObjectSchemaStmt.objectType)} to another schema`];
  }
  if (AlterEnumStmt !== undefined) return [`gives an enum the value ${AlterEnumStmt.newVal}, which it can't read`];
  if (GrantStmt !== undefined && GrantStmt.is_grant !== true) {
    const from = (GrantStmt.objects ?? []).map(({ ObjectWithArgs }) => nameOf(ObjectWithArgs?.objname) ?? '');
    return from.every((name) => own.has(name)) ? [] : ['takes a right away'];
  }
  const body = DoStmt?.args.find(({ DefElem }) => DefElem.defname === 'as')?.DefElem.arg?.String?.sval ?? '';
  const found = hidden.exec(body)?.[0];
  return found === undefined ? [] : [`has ${found.toUpperCase()} in a DO block`];
}

function breakOf({ subtype, name, def }: Command, table: string): string | undefined {
  const column = `${table}.${name ?? def?.ColumnDef?.colname}`;
  switch (subtype) {
    case 'AT_DropColumn':
      return `drops the column ${column}`;
    case 'AT_AlterColumnType':
      return `changes the type of ${column}`;
    case 'AT_SetNotNull':
      return `makes ${column} NOT NULL`;
    case 'AT_ColumnDefault':
      return def === undefined ? `drops the default of ${column}` : undefined;
    case 'AT_AddColumn':
      return def?.ColumnDef && isRequired(def.ColumnDef) ? `adds ${column} NOT NULL without a default` : undefined;
    case 'AT_AddConstraint':
      return def?.Constraint?.contype === 'CONSTR_NOTNULL' ? `makes a column of ${table} NOT NULL` : undefined;
    default:
      return undefined;
  }
}

/** Whether who doesn't know of a new column can't insert a row any more. */
function isRequired({ typeName, constraints = [] }: Column): boolean {
  const types = constraints.map(({ Constraint }) => Constraint.contype);
  const isFilled =
    types.some((type) => ['CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED'].includes(type)) ||
    typeName.names.some(({ String: { sval } }) => /serial\d?$/.test(sval));
  return !isFilled && types.some((type) => ['CONSTR_NOTNULL', 'CONSTR_PRIMARY'].includes(type));
}

/** The last part of a name, without its schema. */
function nameOf(name: Name[] | undefined): string | undefined {
  return name?.at(-1)?.String.sval;
}

function isNamed(type: string): boolean {
  return named.includes(type.replace('OBJECT_', ''));
}

function wordOf(type: string): string {
  return type.replace('OBJECT_', '').toLowerCase();
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const changelog = await readFile(`${root}/CHANGELOG.md`, 'utf8');
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)$/gm)].map(([, version = '']) => version);
  for await (const file of glob('*/migration.sql', { cwd: `${root}/prisma/migrations` })) {
    const name = dirname(file);
    if (name <= before) continue;
    const script = await readFile(`${root}/prisma/migrations/${file}`, 'utf8');
    for (const fault of [...(await faultsOf(name, script, releases)), ...(await lockFaultsOf(name, script))]) {
      process.stderr.write(`${fault}\n`);
      process.exitCode = 1;
    }
  }
}
