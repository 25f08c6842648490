import { nouns } from '@itsm-api/server/administration/index.ts';
import type { NounDeclaration } from '@itsm-api/server/administration/noun.ts';
import { fieldsOf, keyOf } from '@itsm-api/server/administration/noun-fields.ts';
import { unique, type Workspace } from './workspace.ts';

export type Row = Record<string, unknown>;

/** The declarations of all nouns that administrators manage, with the names of their commands. */
export const declarations = await Promise.all(
  Object.entries(nouns).map(async ([command, { load }]) => ({
    command,
    noun: await load(),
    path: `/developer/${(await load()).path}`,
  })),
);

/** The nouns whose forms derive from their declarations. */
export const withForms = declarations.filter(({ noun }) => noun.hasOwnForms !== true);

/**
 * Returns the example of a row in the contract. The fields that name the row have other values in each call. References
 * to users contain the user of the workspace, and other references are missing.
 */
export function exampleOf(noun: NounDeclaration, { userId }: Workspace): Row {
  const example = noun.schemas.row.meta()?.example as Row;
  const named = [...noun.key, ...noun.title];
  const entries = fieldsOf(noun).map(({ name, choices, suggest }) => {
    if (suggest === 'users') return [name, Array.isArray(example[name]) ? [userId] : userId];
    if (suggest !== undefined) return [name, undefined];
    return [name, named.includes(name) && choices === undefined ? makeUnique(String(example[name])) : example[name]];
  });
  return { ...example, ...Object.fromEntries(entries) };
}

function makeUnique(text: string): string {
  const made = `${text}${unique()}`;
  return text === text.toUpperCase() ? made.toUpperCase() : made;
}

/** Creates a row from the example of the contract. Returns the query of its page, such as `?id=3`. */
export async function createRow(noun: NounDeclaration, workspace: Workspace): Promise<string> {
  const example = exampleOf(noun, workspace);
  const set = fieldsOf(noun).filter(({ isInCreate, isBoolean }) => isInCreate && !isBoolean);
  const row = await (await noun.load()).create(
    workspace.context,
    pick(
      example,
      set.map(({ name }) => name),
    ),
  );
  return `?${new URLSearchParams(keyOf(noun, row) as Record<string, string>)}`;
}

/** Returns what a person types in a form to enter a row. A checkbox that isn't checked is missing. */
export async function typeRow(
  noun: NounDeclaration,
  verb: 'create' | 'update',
  workspace: Workspace,
  row = exampleOf(noun, workspace),
): Promise<Record<string, string>> {
  const { converters = {} } = await noun.load();
  const shown = fieldsOf(noun).filter(({ isInCreate, isInUpdate }) => (verb === 'create' ? isInCreate : isInUpdate));
  const texts = shown.map(async ({ name, isBoolean }): Promise<[string, string][]> => {
    if (isBoolean) return row[name] === true ? [[name, 'yes']] : [];
    const converted = row[name] === undefined ? undefined : converters[name]?.toText(workspace.context, row);
    return [[name, String((await converted) ?? row[name] ?? '')]];
  });
  return Object.fromEntries((await Promise.all(texts)).flat());
}

export function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
}
