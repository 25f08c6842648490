import { nouns } from '../../administration/index.ts';
import type { NounDeclaration } from '../../administration/noun.ts';
import { listKeys } from '../../auth/api-keys/key-list.ts';
import type { Runtime } from '../../process/runtime.ts';
import { findDeliveries } from '../../resources/deliveries/queries.ts';
import type { Context } from '../../resources/shared/context.ts';
import { listTenants, tenantContext } from '../../resources/tenants/queries.ts';
import { listUsers } from '../../resources/users/queries.ts';
import { listWebhooks } from '../../resources/webhooks/queries.ts';
import type { CompletionKind } from './command.ts';
import { withRuntime } from './run-command.ts';

type Completions = readonly (readonly [word: string, about: string])[];

const page = { page: 1, perPage: 100 };

/**
 * Returns completions from the database: the names of all tenants, or up to 100 resources of a tenant, newest first. If
 * `tenant` is undefined and only one tenant exists, uses that tenant.
 */
export function completionValues(kind: CompletionKind, tenant: string | undefined): Promise<Completions> {
  return withRuntime(async (runtime) => {
    const all = await listTenants(runtime.prisma);
    if (kind === 'tenants') return all.map(({ id, name }) => [name, `ID ${id}`]);
    // Without `--tenant`, completes the API keys of all tenants, because commands also accept key IDs without
    // `--tenant`.
    const names =
      tenant === undefined && (kind === 'keys' || all.length === 1) ? all.map(({ id }) => String(id)) : [tenant];
    const found = names.flatMap((name) => (name === undefined ? [] : [findInTenant(kind, runtime, name)]));
    return (await Promise.all(found)).flat();
  });
}

async function findInTenant(
  kind: Exclude<CompletionKind, 'tenants'>,
  runtime: Runtime,
  tenant: string,
): Promise<Completions> {
  const context = await tenantContext(runtime, tenant);
  switch (kind) {
    case 'users':
      return (await listUsers(context, page)).data.map(({ email, name }) => [email, name]);
    case 'keys':
      return (await listKeys(context, page)).data.map(({ id, name, user }) => [String(id), `${name}, ${user}`]);
    case 'webhooks':
      return (await listWebhooks(context, page)).data.map(({ id, url }) => [String(id), url]);
    case 'deliveries':
      return (await findDeliveries(context, {}, { take: 100 })).data.map(({ id, event, state }) => [
        String(id),
        `${event}, ${state}`,
      ]);
    default:
      return completeNoun(await nouns[kind].load(), context);
  }
}

async function completeNoun({ key, title, load }: NounDeclaration, context: Context): Promise<Completions> {
  const { data } = await (await load()).list(context, page);
  return data.map((row) => [String(row[key.at(-1) ?? '']), title.map((name) => row[name]).join(', ')]);
}
