import { EmailReference, InvalidItem, type ReferencePath, TicketNumber, type TicketType } from '@itsm-api/contract';
import { sql, tenant } from '../database/client/sql.ts';
import { manyAsJson } from '../database/client/statements.ts';
import type { Context } from './shared/context.ts';
import { parseTicketNumber } from './shared/ticket-reference.ts';

/*
 * Replaces the email addresses and ticket numbers in a request with ids (docs/decisions/api-conventions.md). The contract
 * declares the places at which a request accepts them.
 */

/** The parts of a request that can contain references. */
interface Parts {
  params?: unknown;
  query?: unknown;
  body?: unknown;
}

/** Returns true if a request contains an email address. */
export function hasEmailAddress(parts: Parts, places: readonly ReferencePath[]): boolean {
  return places.some(({ kind, path }) => kind === 'user' && findNames(parts, path, kind).length > 0);
}

/**
 * Replaces all email addresses and ticket numbers in a request with ids, which it looks up in one statement. If the query
 * and the body have none, runs no statement. An unknown name becomes an id that no row has, so that the request fails
 * or filters like a request with an unknown id. An unknown ticket number in the path stays.
 */
export async function replaceReferences<Request extends Parts>(
  context: Pick<Context, 'db'>,
  request: Request,
  places: readonly ReferencePath[],
): Promise<Request> {
  const found = places.map((place) => ({ ...place, names: findNames(request, place.path, place.kind) }));
  // Handlers look up a ticket number in the path together with the ticket.
  if (found.every(({ names, path: [part] }) => names.length === 0 || part === 'params')) return request;
  const namesOf = (kind: ReferencePath['kind']) => found.flatMap((each) => (each.kind === kind ? each.names : []));
  const ids = await findIds(context, { emails: namesOf('user'), numbers: namesOf('ticket') });
  return found.reduce((resolved, { kind, path }) => {
    const toId = (value: unknown) => {
      const id = ids.get(toName(value, kind) ?? '') ?? value;
      return path[0] === 'params' && Number(id) < 0 ? value : id;
    };
    return replaceAt(resolved, path, toId) as Request;
  }, request);
}

/** Returns a map from names to ids. The id of an unknown name is negative, and different for each name. */
async function findIds(
  { db }: Pick<Context, 'db'>,
  { emails, numbers }: { emails: string[]; numbers: string[] },
): Promise<Map<string, number>> {
  const names = [...new Set(numbers)];
  const tickets = names.map((number) => parseTicketNumber(number as TicketNumber));
  const rows = await db.$sql(selectIds, {
    emails: [...new Set(emails)],
    names,
    types: tickets.map(({ type }) => type),
    numbers: tickets.map(({ number }) => number),
  });
  return new Map([
    ...[...emails, ...numbers].map((name, index): [string, number] => [name, -1 - index]),
    ...rows.map(({ id, name }): [string, number] => [name, id]),
  ]);
}

const selectIds = manyAsJson<
  { emails: string[]; names: string[]; types: TicketType[]; numbers: number[] },
  { id: number; name: string }
>(
  ({ emails, names, types, numbers }) => sql`SELECT u.id, u.email AS name
    FROM users u WHERE u.tenant_id = ${tenant} AND u.email = ANY (${emails}::text[])
    UNION ALL
    SELECT t.id, requested.name
    FROM unnest(${names}::text[], ${types}::text[], ${numbers}::int[]) AS requested (name, type, number)
    JOIN tickets t ON t.tenant_id = ${tenant} AND t.type = requested.type AND t.number = requested.number`,
);

const nameSchemas = { user: EmailReference, ticket: TicketNumber };

/** Returns the name in a reference, or undefined if the reference is an id or invalid. */
function toName(value: unknown, kind: ReferencePath['kind']): string | undefined {
  return typeof value === 'string' ? nameSchemas[kind].safeParse(value).data : undefined;
}

/**
 * Returns the names at a place, also those in invalid items of a bulk request.
 * @param depth the number of fields of the path that lead to `value`
 */
function findNames(value: unknown, path: readonly string[], kind: ReferencePath['kind'], depth = 0): string[] {
  if (value instanceof InvalidItem) return findNames(value.input, path, kind, depth);
  const field = path[depth];
  if (field === undefined) {
    const name = toName(value, kind);
    return name === undefined ? [] : [name];
  }
  if (Array.isArray(value)) return value.flatMap((each) => findNames(each, path, kind, depth + 1));
  return isObject(value) ? findNames(value[field], path, kind, depth + 1) : [];
}

/** Returns a copy of a value in which `replace` has replaced the values at a place. */
function replaceAt(value: unknown, path: readonly string[], replace: (value: unknown) => unknown): unknown {
  if (value instanceof InvalidItem) return new InvalidItem(replaceAt(value.input, path, replace), value.issues);
  const [field, ...rest] = path;
  if (field === undefined) return replace(value);
  if (Array.isArray(value)) return value.map((each) => replaceAt(each, rest, replace));
  if (!isObject(value) || !Object.hasOwn(value, field)) return value;
  return { ...value, [field]: replaceAt(value[field], rest, replace) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
