import { ApiPromise } from './api-promise.ts';
import { checkOptions } from './attempt.ts';
import { type BulkAnswer, sendBulk } from './bulk.ts';
import { ApiChanges, type ChangesPage } from './changes.ts';
import { routes } from './generated.ts';
import type * as generated from './generated-resources.ts';
import { ApiList } from './list.ts';
import type { BulkPostOptions, ClientOptions, PostOptions } from './options.ts';
import { type PacedLimit, Pacing } from './pacing.ts';
import { createSend, type Send } from './send.ts';

/** An operation of the route table. */
interface Route {
  method: string;
  path: string;
  group?: string;
  scope?: string;
  /** What stands after the ids of the path, before the options; `items` are the field of a body that holds several. */
  takes?: 'query' | 'changes' | 'body' | { items: string };
}

/**
 * The API of one workspace.
 *
 * @example
 * const client = new ItsmClient({ baseUrl: 'https://acme.example.com', apiKey });
 * const ticket = await client.tickets.get(1042);
 */
export class ItsmClient implements generated.Resources {
  readonly ping: generated.Ping;
  readonly me: generated.Me;
  readonly tickets: generated.Tickets;
  readonly comments: generated.Comments;
  readonly assets: generated.Assets;
  readonly activities: generated.Activities;
  readonly projects: generated.Projects;
  readonly tasks: generated.Tasks;
  readonly users: generated.Users;
  readonly webhooks: generated.Webhooks;
  readonly deliveries: generated.Deliveries;

  readonly #pacing: Pacing;

  /** Throws a `TypeError` for a `baseUrl` or an `apiKey` that can't be one. */
  constructor(options: ClientOptions) {
    const checked = checkOptions(options);
    this.#pacing = new Pacing(checked.logger);
    const api = { send: createSend(checked, this.#pacing), baseUrl: checked.baseUrl };
    this.ping = resource(api, routes.ping);
    this.me = resource(api, routes.me);
    this.tickets = resource(api, routes.tickets);
    this.comments = resource(api, routes.comments);
    this.assets = resource(api, routes.assets);
    this.activities = resource(api, routes.activities);
    this.projects = resource(api, routes.projects);
    this.tasks = resource(api, routes.tasks);
    this.users = resource(api, routes.users);
    this.webhooks = resource(api, routes.webhooks);
    this.deliveries = resource(api, routes.deliveries);
  }

  /** What is left of the limits of the key as far as answers have told, and how many calls wait for each. */
  get rateLimits(): PacedLimit[] {
    return this.#pacing.limits;
  }
}

/** What methods are made of. */
interface Api {
  send: Send;
  baseUrl: string;
}

/** The methods of a resource; that they are those of its interface is the generator's doing. */
function resource<Methods>(api: Api, routes: Record<string, Route>): Methods {
  const methods = Object.entries(routes).map(([name, route]) => [name, method(api, route)]);
  return Object.fromEntries(methods) as Methods;
}

function method({ send, baseUrl }: Api, { takes, ...route }: Route) {
  const names = route.path.match(/:\w+/g) ?? [];
  return (...values: unknown[]) => {
    const ids = values.slice(0, names.length);
    const [input, options] = values.slice(names.length) as [object | undefined, PostOptions | undefined];
    const request = { ...route, options: takes ? options : input };
    // A path that can't be is told by the promise.
    const sendTo = async <Envelope>(more: object) =>
      send<Envelope>({ ...request, ...more, path: fill(route.path, ids) });

    if (takes === 'query') return new ApiList((query) => sendTo<never>({ query }), input);
    if (takes === 'changes') {
      const read = async (query: object) => {
        const response = await sendTo<ChangesPage<unknown>>({ query });
        const { data, meta } = response.data;
        return { ...response, data: { data, meta } };
      };
      return new ApiChanges(read, input ?? {}, route.path, options?.signal);
    }
    if (typeof takes === 'object') {
      const { idempotencyKey: _, ...perRequest } = { ...options };
      const sendItems = async (items: object[], idempotencyKey: string) => {
        const body = { [takes.items]: items };
        const response = await sendTo<{ data: BulkAnswer<unknown>[] }>({
          body,
          options: { ...perRequest, idempotencyKey },
        });
        return response.data.data;
      };
      return sendBulk({ ...route, baseUrl, send: sendItems }, input as object[], options as BulkPostOptions);
    }
    // Sent at once, awaited or not.
    const response = sendTo<{ data: unknown }>({ body: takes && input });
    return new ApiPromise(async () => {
      const answered = await response;
      return { ...answered, data: answered.data.data };
    });
  };
}

/** The path with its ids, digits or a ticket's number: `..` would lead to another endpoint. */
function fill(path: string, ids: unknown[]): string {
  let index = 0;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = String(ids[index++]);
    if (!/^([A-Z]{3}-)?\d+$/.test(id)) throw new TypeError(`${name} in ${path} must be a positive integer.`);
    return id;
  });
}
