import { ApiPromise } from './api-promise.ts';
import { routes } from './generated.ts';
import type * as generated from './generated-resources.ts';
import { type ClientOptions, createSend, type RequestOptions, type Send } from './http.ts';
import { ApiList } from './list.ts';

/** An operation of the route table. */
interface Route {
  method: string;
  path: string;
  scope?: string;
  /** What stands after the ids of the path, before the options. */
  takes?: 'query' | 'body';
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
  readonly tickets: generated.Tickets;
  readonly assets: generated.Assets;
  readonly projects: generated.Projects;
  readonly tasks: generated.Tasks;
  readonly users: generated.Users;
  readonly webhooks: generated.Webhooks;
  readonly deliveries: generated.Deliveries;

  /** Throws a `TypeError` for a `baseUrl` or an `apiKey` that can't be one. */
  constructor(options: ClientOptions) {
    const send = createSend(options);
    this.ping = resource(send, routes.ping);
    this.tickets = resource(send, routes.tickets);
    this.assets = resource(send, routes.assets);
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
  return (...given: unknown[]) => {
    const ids = given.slice(0, names.length);
    const [input, options] = given.slice(names.length) as [object | undefined, RequestOptions | undefined];
    const request = { ...route, options: route.takes ? options : input };

    if (route.takes === 'query') {
      return new ApiList(async (query, patient) => {
        const response = await send<never>({ ...request, path: fill(route.path, ids), query, patient });
        return response;
      }, input);
    }
    // Sent at once, awaited or not.
    const response = sendOne(send, { ...request, body: route.takes && input }, ids);
    return new ApiPromise(() => response);
  };
}

async function sendOne(send: Send, request: Parameters<Send>[0], ids: unknown[]) {
  const response = await send<{ data: unknown }>({ ...request, path: fill(request.path, ids) });
  return { ...response, data: response.data.data };
}

/** The path with its ids, which must be digits: `..` would lead to another endpoint. */
function fill(path: string, ids: unknown[]): string {
  let index = 0;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = String(ids[index++]);
    if (!/^\d+$/.test(id)) throw new TypeError(`${name} in ${path} must be a positive integer.`);
    return id;
  });
}
