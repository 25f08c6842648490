import { maxTicketCategories, type ResourceKind, type Scope, UserQuery } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { listAssets } from '../resources/assets/queries.ts';
import { listProjects } from '../resources/projects/queries.ts';
import type { Context } from '../resources/shared/context.ts';
import type { Page } from '../resources/shared/lists.ts';
import { toNameKey } from '../resources/shared/name-key.ts';
import { searchTeams } from '../resources/teams/queries.ts';
import { listTicketCategories } from '../resources/ticket-categories/queries.ts';
import { listUsers } from '../resources/users/queries.ts';

/** A kind of resource whose names replace ids in the arguments of tools. */
export type NamedKind = Exclude<ResourceKind, 'ticket'>;

/** How to find the resources of a kind by name. */
interface NameSource {
  /** The scope that allows an API key to list the resources. */
  scope: Scope;
  /** The fields that can replace the id. */
  names: readonly string[];
  /** The fields that an agent needs to choose a resource. */
  shown: readonly string[];
  /** Finds resources whose names contain all words. Without words, finds all resources. */
  find(context: Context, words: string | undefined, take: number): Promise<Found>;
}

/** The resources that a search for names finds. */
export interface Found {
  rows: Record<string, unknown>[];
  /** Whether more than the requested number of resources match. */
  hasMore: boolean;
}

/** The maximum number of resources that a lookup compares with a name. */
const maxCompared = 100;

/** The resources that an agent can find by name. */
export const nameSources: Record<NamedKind, NameSource> = {
  user: {
    scope: scopeOf(contract.users.list),
    names: ['name'],
    shown: ['id', 'name', 'email', 'role', 'active'],
    find: (context, q, perPage) => toFound(listUsers(context, { page: 1, perPage, q })),
  },
  team: {
    scope: scopeOf(contract.teams.list),
    names: ['name'],
    shown: ['id', 'name', 'description', 'active'],
    find: async ({ db }, words = '', take) => {
      const rows = await searchTeams({ db }, words, take + 1);
      return { rows: rows.slice(0, take), hasMore: rows.length > take };
    },
  },
  category: {
    scope: scopeOf(contract.ticketCategories.list),
    names: ['id', 'name'],
    shown: ['id', 'name', 'parentId', 'category', 'active'],
    async find(context, words = '', take) {
      const { data } = await listTicketCategories(context, { page: 1, perPage: maxTicketCategories });
      const keys = toNameKey(words).split(/\s+/);
      const rows = data.filter(({ id, name }) => keys.every((key) => toNameKey(`${id} ${name}`).includes(key)));
      return { rows: rows.slice(0, take), hasMore: rows.length > take };
    },
  },
  project: {
    scope: scopeOf(contract.projects.list),
    names: ['key', 'name'],
    shown: ['id', 'key', 'name', 'status'],
    find: (context, q, perPage) => toFound(listProjects(context, { page: 1, perPage, q })),
  },
  asset: {
    scope: scopeOf(contract.assets.list),
    names: ['assetTag', 'name'],
    shown: ['id', 'assetTag', 'name', 'type', 'status'],
    async find(context, q, perPage) {
      const tagged = q === undefined ? [] : (await listAssets(context, { page: 1, perPage, assetTag: [q] })).data;
      return tagged.length > 0
        ? { rows: tagged, hasMore: false }
        : toFound(listAssets(context, { page: 1, perPage, q }));
    },
  },
};

function scopeOf({ metadata }: { metadata: { scope: unknown } }): Scope {
  return metadata.scope as Scope;
}

async function toFound(page: Promise<Page<Record<string, unknown>>>): Promise<Found> {
  const { data, meta } = await page;
  return { rows: data, hasMore: meta.totalCount > data.length };
}

/** Finds resources by words of their names, as rows for an agent. Words without a letter or digit match nothing. */
export async function findByWords(context: Context, kind: NamedKind, words: string | undefined, take: number) {
  const { shown, find } = nameSources[kind];
  const q = UserQuery.shape.q.safeParse(words);
  const { rows, hasMore } = q.success ? await find(context, q.data, take) : { rows: [], hasMore: false };
  const toRow = (row: Found['rows'][number]) => Object.fromEntries(shown.map((name) => [name, row[name]]));
  return { rows: rows.map(toRow), hasMore };
}

/** Returns the resources of a kind with a name, regardless of case, and the rows whose names contain its words. */
export async function findByName(context: Context, kind: NamedKind, name: string) {
  const found = await findByWords(context, kind, name, maxCompared);
  const key = toNameKey(name.trim());
  const isNamed = (value: unknown) => typeof value === 'string' && toNameKey(value) === key;
  const [matches = []] = nameSources[kind].names
    .map((field) => found.rows.filter((row) => isNamed(row[field])))
    .filter(({ length }) => length > 0);
  return { matches, ...found };
}

/** Formats a resource for an agent, as one line of JSON. Cuts texts that are longer than any name. */
export function formatRow(kind: NamedKind, row: Found['rows'][number]): string {
  return JSON.stringify({ kind, ...row }, (_, value) =>
    typeof value === 'string' && value.length > maxTextLength
      ? `${value.slice(0, maxTextLength)}…`.toWellFormed()
      : value,
  );
}

const maxTextLength = 255;
