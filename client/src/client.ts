import { ApiPromise, type ApiResponse } from './api-promise.ts';
import { checkOptions, type Request } from './attempt.ts';
import { type BulkAnswer, sendBulk } from './bulk.ts';
import { ApiChanges, type ChangesPage } from './changes.ts';
import { type FileUpload, toFileBody } from './files.ts';
import { type FieldTypes, routes } from './generated.ts';
import type { Resources } from './generated-resources.ts';
import { ApiList } from './list.ts';
import type { BulkPostOptions, BulkUpsertOptions, CallOptions, ClientOptions, PostOptions } from './options.ts';
import { type PacedLimit, RateLimitQueue } from './pacing.ts';
import { createSend, type Send } from './send.ts';

/**
 * A client for the API of one workspace. The parameter contains the types of its custom fields, such as
 * `{ ticket: TicketFields; asset: AssetFields }`. Without the parameter, custom fields can have any names and values.
 *
 * @example
 * const client = new ItsmClient({ baseUrl: 'https://acme.example.com', apiKey });
 * const ticket = await client.tickets.get(38);
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the routes and the interface are generated from the same contract
export class ItsmClient<Types extends FieldTypes = FieldTypes> {
  readonly #pacing: RateLimitQueue;

  /** @throws TypeError if `baseUrl`, `apiKey` or a numeric option is invalid */
  constructor(options: ClientOptions) {
    const checked = checkOptions(options);
    this.#pacing = new RateLimitQueue(checked);
    const api = { send: createSend(checked, this.#pacing), baseUrl: checked.baseUrl };
    Object.assign(
      this,
      mapValues(routes, (methods) => mapValues(methods, (route) => method(api, route))),
    );
  }

  /** Returns the rate limits that earlier responses reported, and the number of calls that wait for each limit. */
  get rateLimits(): PacedLimit[] {
    return this.#pacing.limits;
  }
}

/** The resources, which the constructor adds. */
export interface ItsmClient<Types extends FieldTypes = FieldTypes> extends Resources<Types> {}

/** The function that sends requests, and the server URL. */
interface Api {
  send: Send;
  baseUrl: string;
}

/** Returns a copy of an object with other values. */
function mapValues<Value, Mapped>(object: Record<string, Value>, change: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function method({ send, baseUrl }: Api, definition: string) {
  const [method = '', path = '', access, takes, defaultMatch] = definition.split(' ');
  const [group, permission] = access?.split(':') ?? [];
  const itemsName = takes?.split('=')[1];
  const route = { method, path, group, scope: permission && access };
  const idCount = path.split(':').length - 1;
  return (...values: unknown[]) => {
    const [input, options] = values.slice(idCount) as [object | undefined, PostOptions | undefined];
    const isDownload = takes === 'download';
    const hasInput = takes && !isDownload;
    const request = { ...route, isDownload, options: hasInput ? options : input };
    // The function is async, so the returned promise rejects if an id is invalid.
    const sendTo = async <Envelope>({ body, ...more }: { body?: unknown } & Partial<Omit<Request, 'body'>>) =>
      send<Envelope>({ ...request, ...more, body: JSON.stringify(body), path: fill(path, values) });

    if (takes === 'query')
      return new ApiList(
        (query) => sendTo<never>({ query }),
        // Copies the query, so later changes to the passed object don't affect the next pages.
        input && JSON.parse(JSON.stringify(input)),
        () => fill(path, values),
      );
    if (takes === 'changes') {
      const read = async (query: object, override?: CallOptions | false) => {
        const response = await sendTo<ChangesPage<unknown> & { success: true }>({
          query,
          options: { ...options, ...override },
        });
        const { success: _, ...page } = response.data;
        return { ...response, data: page };
      };
      return new ApiChanges(read, input ?? {}, path, options?.signal);
    }
    if (itemsName) {
      const matchBy = defaultMatch && ((options as BulkUpsertOptions<string>)?.matchBy ?? defaultMatch);
      const sendItems = async (items: object[], idempotencyKey: string) => {
        const { data } = await sendTo<{ data: BulkAnswer<unknown>[] }>({
          body: { [itemsName]: items, matchBy },
          options: { ...options, idempotencyKey },
        });
        return data.data;
      };
      return sendBulk({ ...route, baseUrl, matchBy, send: sendItems }, input as object[], options as BulkPostOptions);
    }
    if (takes === 'file') {
      const upload = async () => {
        const file = toFileBody(input as FileUpload);
        return sendTo<{ data: unknown }>({ query: { name: file.name }, file });
      };
      return toPromise(upload());
    }
    // Sends the request immediately, even if the caller doesn't await the promise.
    return toPromise(sendTo<{ data: unknown }>({ body: hasInput ? input : undefined }));
  };
}

function toPromise(response: Promise<ApiResponse<{ data: unknown }>>): ApiPromise<unknown> {
  return new ApiPromise(async () => {
    const result = await response;
    return { ...result, data: result.data.data };
  });
}

/**
 * Inserts the first arguments into a path such as `/tickets/:id`. Accepts only digits and ticket numbers, and keys of forms, because
 * `..` would lead to another endpoint.
 */
function fill(path: string, values: unknown[]): string {
  let index = 0;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = String(values[index++]);
    const isKey = name === 'key';
    const pattern = isKey ? /^[\w-]+$/ : /^([A-Z]{3}-)?\d+$/;
    if (!pattern.test(id)) throw new TypeError(`${name} in ${path} must be a ${isKey ? name : 'positive integer'}.`);
    return id;
  });
}
