import { ApiPromise } from './api-promise.ts';
import { routes } from './generated.ts';
import type * as generated from './generated-resources.ts';
import { type ClientOptions, createSend, type PostOptions, type Send } from './http.ts';
import { ApiList } from './list.ts';

/** An operation of the route table. */
interface Route {
  method: string;
  path: string;
  scope?: string;
  /** What stands after the ids of the path, before the options. */
  takes?: 'query' | 'changes' | 'body';
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

  /** Throws a `TypeError` for a `baseUrl` or an `apiKey` that can't be one. */
  constructor(options: ClientOptions) {
    const send = createSend(options);
    this.ping = resource(send, routes.ping);
    this.me = resource(send, routes.me);
    this.tickets = resource(send, routes.tickets);
    this.comments = resource(send, routes.comments);
    this.assets = resource(send, routes.assets);
    this.activities = resource(send, routes.activities);
    this.projects = resource(send, routes.projects);
    this.tasks = resource(send, routes.tasks);
    this.users = resource(send, routes.users);
    this.webhooks = resource(send, routes.webhooks);
    this.deliveries = resource(send, routes.deliveries);
  }
}

/** The methods of a resource; that they are those of its interface is the generator's doing. */
function resource<Methods>(send: Send, routes: Record<string, Route>): Methods {
  const methods = Object.entries(routes).map(([name, route]) => [name, method(send, route)]);
  return Object.fromEntries(methods) as Methods;
}

function method(send: Send, route: Route) {
  const names = route.path.match(/:\w+/g) ?? [];
  return (...values: unknown[]) => {
    const ids = values.slice(0, names.length);
    const [input, options] = values.slice(names.length) as [object | undefined, PostOptions | undefined];
    const request = { ...route, options: route.takes ? options : input };

    if (route.takes === 'query') {
      return new ApiList(async (query, patient) => {
        const response = await send<never>({ ...request, path: fill(route.path, ids), query, patient });
        return response;
      }, input);
    }
    // Sent at once, awaited or not.
    const given = route.takes === 'changes' ? { query: input } : { body: route.takes && input };
    const response = sendOne(send, { ...request, ...given }, ids);
    return new ApiPromise(() => response);
  };
}

async function sendOne(send: Send, request: Parameters<Send>[0], ids: unknown[]) {
  const response = await send<{ data: unknown; meta?: unknown }>({ ...request, path: fill(request.path, ids) });
  const { data, meta } = response.data;
  return { ...response, data: meta === undefined ? data : { data, meta } };
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
