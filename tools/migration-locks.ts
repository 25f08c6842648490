import { parse } from 'libpg-query';
import { concurrentMarker } from '../server/src/database/migrations.ts';

/*
 * Holds the rule that a migration holds nothing up (docs/decisions/upgrades.md): one table at a time, for a moment.
 */

/** The syntax tree as PostgreSQL's parser gives it, as far as it is looked at. */
interface Statement {
  AlterTableStmt?: { objtype: string; relation: Relation; cmds: { AlterTableCmd: Command }[] };
  CreateFunctionStmt?: { replace?: boolean };
  CreatePolicyStmt?: { table: Relation };
  CreateStmt?: { relation: Relation; if_not_exists?: boolean; tableElts?: TableElement[] };
  CreateTrigStmt?: { relation: Relation; replace?: boolean };
  DropStmt?: {
    removeType: string;
    objects: { List?: { items: Name[] } }[];
    concurrent?: boolean;
    missing_ok?: boolean;
  };
  IndexStmt?: { relation: Relation; concurrent?: boolean };
  LockStmt?: { relations: { RangeVar: Relation }[] };
  RenameStmt?: { relation?: Relation; renameType: string };
  TruncateStmt?: { relations: { RangeVar: Relation }[] };
}

interface Relation {
  relname: string;
}

interface Name {
  String: { sval: string };
}

interface Command {
  subtype: string;
  name?: string;
  missing_ok?: boolean;
  def?: TableElement;
}

interface TableElement {
  ColumnDef?: { constraints?: { Constraint: Constraint }[] };
  Constraint?: Constraint;
}

interface Constraint {
  contype: string;
  conname?: string;
  /** NOT VALID: rows from before aren't looked at. */
  skip_validation?: boolean;
  /** What a foreign key refers to: whoever writes it waits, too. */
  pktable?: Relation;
}

/** Changes of a table that let others read and write it. */
const gentle = ['AT_ValidateConstraint', 'AT_SetRelOptions', 'AT_ResetRelOptions', 'AT_SetStatistics'];

/** How a migration would hold others up, a line each; none where all is well. */
export async function lockFaultsOf(name: string, script: string): Promise<string[]> {
  // The parser refuses what is empty.
  const { stmts = [] } = await parse(`${script};`);
  const statements = stmts.map(({ stmt }) => stmt as Statement);
  // Nobody uses the tables that the migration itself makes.
  const own = new Set(statements.map(({ CreateStmt }) => CreateStmt?.relation.relname));
  const isOutside = script.startsWith(concurrentMarker);
  const faults = [
    ...statements.flatMap((statement) => indexFaults(statement, own, isOutside)),
    ...statements.flatMap((statement) => checkFaults(statement, own)),
    ...(isOutside ? statements.flatMap(repetitionFaults) : transactionFaults(statements, own)),
  ];
  return faults.map((fault) => `${name}: ${fault}.`);
}

function indexFaults({ IndexStmt }: Statement, own: Set<string | undefined>, isOutside: boolean): string[] {
  if (IndexStmt === undefined || own.has(IndexStmt.relation.relname)) return [];
  if (IndexStmt.concurrent !== true) {
    return [`nobody writes ${IndexStmt.relation.relname} while it builds an index. Build it CONCURRENTLY`];
  }
  return isOutside ? [] : [`builds an index CONCURRENTLY within a transaction. Begin it with \`${concurrentMarker}\``];
}

/** A CHECK reads the whole table, which is locked for that long. */
function checkFaults({ AlterTableStmt }: Statement, own: Set<string | undefined>): string[] {
  if (AlterTableStmt === undefined || own.has(AlterTableStmt.relation.relname)) return [];
  return AlterTableStmt.cmds.flatMap(({ AlterTableCmd: { subtype, def } }) => {
    const isChecked = def?.Constraint?.contype === 'CONSTR_CHECK' && def.Constraint.skip_validation !== true;
    if (subtype !== 'AT_AddConstraint' || !isChecked) return [];
    const { relname } = AlterTableStmt.relation;
    return [
      `locks ${relname} while it checks every row. Add the CHECK as NOT VALID, and validate it in a migration of its own`,
    ];
  });
}

/** What is locked by one statement stays so until the last one of its transaction. */
function transactionFaults(statements: Statement[], own: Set<string | undefined>): string[] {
  const tables = [...new Set(statements.flatMap(lockedBy))].filter((table) => !own.has(table));
  if (tables.length < 2) return [];
  const advice = `Make a migration of each, or have each statement committed: begin it with \`${concurrentMarker}\``;
  return [`locks ${tables.join(', ')} in one transaction. ${advice}`];
}

/** The tables that nobody writes while a statement has its lock, and some not even read. */
function lockedBy(statement: Statement): string[] {
  const { AlterTableStmt, CreatePolicyStmt, CreateStmt, CreateTrigStmt, DropStmt, RenameStmt } = statement;
  if (AlterTableStmt?.objtype === 'OBJECT_TABLE') {
    const commands = AlterTableStmt.cmds.map(({ AlterTableCmd }) => AlterTableCmd);
    const referred = commands.flatMap(({ def }) => referredBy(def));
    const isGentle = commands.every(({ subtype }) => gentle.includes(subtype));
    return isGentle ? [] : [AlterTableStmt.relation.relname, ...referred];
  }
  if (CreateStmt !== undefined) return (CreateStmt.tableElts ?? []).flatMap(referredBy);
  if (DropStmt !== undefined && DropStmt.concurrent !== true)
    return DropStmt.objects.flatMap(tableOf(DropStmt.removeType));
  if (RenameStmt?.relation !== undefined && RenameStmt.renameType !== 'OBJECT_INDEX')
    return [RenameStmt.relation.relname];
  const whole = statement.LockStmt?.relations ?? statement.TruncateStmt?.relations ?? [];
  const one = CreateTrigStmt?.relation ?? CreatePolicyStmt?.table;
  return [...whole.map(({ RangeVar }) => RangeVar.relname), ...(one === undefined ? [] : [one.relname])];
}

function referredBy(element: TableElement | undefined): string[] {
  const constraints = [element?.Constraint, ...(element?.ColumnDef?.constraints ?? []).map((each) => each.Constraint)];
  return constraints.flatMap((constraint) => constraint?.pktable?.relname ?? []);
}

/** Whose lock it takes to drop something. Of an index it isn't known whose it is. */
function tableOf(type: string) {
  return ({ List }: { List?: { items: Name[] } }): string[] => {
    const names = (List?.items ?? []).map(({ String: { sval } }) => sval);
    if (type === 'OBJECT_INDEX') return [`the table of ${names.at(-1)}`];
    if (type === 'OBJECT_TABLE') return names.slice(-1);
    return ['OBJECT_TRIGGER', 'OBJECT_POLICY'].includes(type) ? names.slice(-2, -1) : [];
  };
}

/** Outside of a transaction what is done stays when the next statement is interrupted, and is done again. */
function repetitionFaults({ AlterTableStmt, CreateFunctionStmt, CreateStmt, CreateTrigStmt }: Statement): string[] {
  const faults: string[] = [];
  if (CreateTrigStmt !== undefined && CreateTrigStmt.replace !== true) faults.push('CREATE OR REPLACE TRIGGER');
  if (CreateFunctionStmt !== undefined && CreateFunctionStmt.replace !== true)
    faults.push('CREATE OR REPLACE FUNCTION');
  if (CreateStmt !== undefined && CreateStmt.if_not_exists !== true) faults.push('CREATE TABLE IF NOT EXISTS');
  const commands = (AlterTableStmt?.cmds ?? []).map(({ AlterTableCmd }) => AlterTableCmd);
  const dropped = commands.filter(({ subtype, missing_ok }) => subtype === 'AT_DropConstraint' && missing_ok === true);
  for (const { subtype, missing_ok, def } of commands) {
    if (subtype === 'AT_AddColumn' && missing_ok !== true) faults.push('ADD COLUMN IF NOT EXISTS');
    const isDropped = dropped.some(({ name }) => name === def?.Constraint?.conname);
    if (subtype === 'AT_AddConstraint' && !isDropped) faults.push('DROP CONSTRAINT IF EXISTS before it');
  }
  return faults.map((advice) => `can't be run again after an interruption. Write ${advice}`);
}
