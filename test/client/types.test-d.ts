import type * as client from '@itsm-api/client';
import { type ItsmClient, isItsmError } from '@itsm-api/client';
import type { WebhookEvent } from '@itsm-api/client/webhooks';
import type * as contract from '@itsm-api/contract';
import type * as z from 'zod';

/**
 * Read by the compiler alone (`pnpm types`): a difference between the client's types and the contract's own doesn't
 * compile.
 */

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

/** Holds when every entry of its argument is true. */
function holds<_Claims extends Record<string, true>>(): void {}

type Api = contract.Contract;
type Path<Route extends { pathParams: z.ZodType }> = z.input<Route['pathParams']>;
type Query<Route extends { query: z.ZodType }> = z.input<Route['query']>;
type Body<Route extends { body: z.ZodType }> = z.input<Route['body']>;
type Answer<Route> = Route extends { responses: { 200: infer Success extends z.ZodType } }
  ? z.output<Success>
  : Route extends { responses: { 201: infer Success extends z.ZodType } }
    ? z.output<Success>
    : never;

/** The contract's answer with its enums opened, since a newer server may answer other values. */
type Opened<T> = T extends readonly (infer Element)[] ? OpenedValue<Element>[] : T extends object ? OpenedObject<T> : T;
/** Named fields beside others: one type of each. */
type OpenedObject<T> = [string, keyof Named<T>] extends [keyof T, infer Name]
  ? [Name] extends [never]
    ? { [Key in keyof T]: OpenedValue<T[Key]> }
    : Record<string, T[string & keyof T]> & { [Key in keyof Named<T>]: OpenedValue<Named<T>[Key]> }
  : { [Key in keyof T]: OpenedValue<T[Key]> };
type Named<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] };
type OpenedValue<T> =
  IsEnum<Exclude<T, null>> extends true ? client.Open<Exclude<T, null> & string> | Nulls<T> : Opened<T>;
type Nulls<T> = Extract<T, null>;
/** A union of string literals; a single literal is none. */
type IsEnum<T> = [T] extends [string] ? (string extends T ? false : IsUnion<T>) : false;
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;

type ItemOf<Route> = Answer<Route> extends { data: infer Data } ? Opened<Data> : never;
type ChangesOf<Route> = client.ChangesPage<Answer<Route> extends { data: (infer Row)[] } ? Opened<Row> : never>;
type RowOf<Route> = Answer<Route> extends { data: (infer Row)[]; meta: contract.PageMeta } ? Opened<Row> : never;

/** The arguments before the options, and what the promise resolves to. */
type Arguments<Method> = Method extends (...given: [...infer Given, options?: client.RequestOptions]) => unknown
  ? Given
  : never;
type Item<Method> = Method extends (...given: never) => client.ApiPromise<infer Data> ? Data : never;
type Row<Method> = Method extends (...given: never) => client.ApiList<infer Data> ? Data : never;

type Me = ItsmClient['me'];
type Tickets = ItsmClient['tickets'];
type Comments = ItsmClient['comments'];
type Assets = ItsmClient['assets'];
type Activities = ItsmClient['activities'];
type Projects = ItsmClient['projects'];
type Tasks = ItsmClient['tasks'];
type Users = ItsmClient['users'];
type Webhooks = ItsmClient['webhooks'];
type Deliveries = ItsmClient['deliveries'];

/** Every operation of the contract is a method, and there is no other. */
holds<{
  resources: Equal<keyof ItsmClient, keyof Api>;
  ping: Equal<keyof ItsmClient['ping'], keyof Api['ping']>;
  me: Equal<keyof Me, keyof Api['me']>;
  tickets: Equal<keyof Tickets, keyof Api['tickets']>;
  comments: Equal<keyof Comments, keyof Api['comments']>;
  assets: Equal<keyof Assets, keyof Api['assets']>;
  activities: Equal<keyof Activities, keyof Api['activities']>;
  projects: Equal<keyof Projects, keyof Api['projects']>;
  tasks: Equal<keyof Tasks, keyof Api['tasks']>;
  users: Equal<keyof Users, keyof Api['users']>;
  webhooks: Equal<keyof Webhooks, keyof Api['webhooks']>;
  deliveries: Equal<keyof Deliveries, keyof Api['deliveries']>;
}>();

/** What is sent is what the contract takes. */
holds<{
  ping: Equal<Arguments<ItsmClient['ping']['get']>, []>;
  me: Equal<Arguments<Me['get']>, []>;
  ticketQuery: Equal<client.TicketQuery, Query<Api['tickets']['list']>>;
  ticketList: Equal<Arguments<Tickets['list']>, [query?: client.TicketQuery]>;
  changesQuery: Equal<client.ChangesQuery, Query<Api['tickets']['changes']>>;
  ticketChanges: Equal<Arguments<Tickets['changes']>, [query?: client.ChangesQuery]>;
  ticketGet: Equal<Arguments<Tickets['get']>, [Path<Api['tickets']['get']>['id']]>;
  ticketReference: Equal<Path<Api['tickets']['get']>['id'], number | `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`>;
  ticketCreate: Equal<Arguments<Tickets['create']>, [client.NewTicket]>;
  newTicket: Equal<client.NewTicket, Body<Api['tickets']['create']>>;
  ticketUpdate: Equal<Arguments<Tickets['update']>, [Path<Api['tickets']['update']>['id'], client.TicketPatch]>;
  ticketPatch: Equal<client.TicketPatch, Body<Api['tickets']['update']>>;
  ticketCreateMany: Equal<Arguments<Tickets['createMany']>, [client.NewTickets]>;
  newTickets: Equal<client.NewTickets, Body<Api['tickets']['createMany']>>;
  ticketUpdateMany: Equal<Arguments<Tickets['updateMany']>, [client.TicketPatches]>;
  ticketPatches: Equal<client.TicketPatches, Body<Api['tickets']['updateMany']>>;
  commentQuery: Equal<client.CommentQuery, Query<Api['comments']['list']>>;
  commentList: Equal<Arguments<Comments['list']>, [Path<Api['comments']['list']>['id'], query?: client.CommentQuery]>;
  commentCreate: Equal<Arguments<Comments['create']>, [Path<Api['comments']['create']>['id'], client.NewComment]>;
  newComment: Equal<client.NewComment, Body<Api['comments']['create']>>;
  activityQuery: Equal<client.TicketActivityQuery, Query<Api['activities']['ofTicket']>>;
  activityOfTicket: Equal<
    Arguments<Activities['ofTicket']>,
    [Path<Api['activities']['ofTicket']>['id'], query?: client.TicketActivityQuery]
  >;
  activityOfAsset: Equal<
    Arguments<Activities['ofAsset']>,
    [Path<Api['activities']['ofAsset']>['id'], query?: client.AssetActivityQuery]
  >;
  assetQuery: Equal<client.AssetQuery, Query<Api['assets']['list']>>;
  assetList: Equal<Arguments<Assets['list']>, [query?: client.AssetQuery]>;
  assetGet: Equal<Arguments<Assets['get']>, [Path<Api['assets']['get']>['id']]>;
  assetCreate: Equal<Arguments<Assets['create']>, [client.NewAsset]>;
  newAsset: Equal<client.NewAsset, Body<Api['assets']['create']>>;
  assetUpdate: Equal<Arguments<Assets['update']>, [Path<Api['assets']['update']>['id'], client.AssetPatch]>;
  assetPatch: Equal<client.AssetPatch, Body<Api['assets']['update']>>;
  projectQuery: Equal<client.ProjectQuery, Query<Api['projects']['list']>>;
  projectList: Equal<Arguments<Projects['list']>, [query?: client.ProjectQuery]>;
  projectGet: Equal<Arguments<Projects['get']>, [Path<Api['projects']['get']>['id']]>;
  taskQuery: Equal<client.TaskQuery, Query<Api['tasks']['list']>>;
  taskList: Equal<Arguments<Tasks['list']>, [Path<Api['tasks']['list']>['id'], query?: client.TaskQuery]>;
  taskCreate: Equal<Arguments<Tasks['create']>, [Path<Api['tasks']['create']>['id'], client.NewTask]>;
  newTask: Equal<client.NewTask, Body<Api['tasks']['create']>>;
  taskGet: Equal<Arguments<Tasks['get']>, [Path<Api['tasks']['get']>['taskId']]>;
  taskUpdate: Equal<Arguments<Tasks['update']>, [Path<Api['tasks']['update']>['taskId'], client.TaskPatch]>;
  taskPatch: Equal<client.TaskPatch, Body<Api['tasks']['update']>>;
  userQuery: Equal<client.UserQuery, Query<Api['users']['list']>>;
  userList: Equal<Arguments<Users['list']>, [query?: client.UserQuery]>;
  userGet: Equal<Arguments<Users['get']>, [Path<Api['users']['get']>['id']]>;
  webhookGet: Equal<Arguments<Webhooks['get']>, [Path<Api['webhooks']['get']>['id']]>;
  webhookQuery: Equal<client.WebhookQuery, Query<Api['webhooks']['list']>>;
  webhookList: Equal<Arguments<Webhooks['list']>, [query?: client.WebhookQuery]>;
  webhookCreate: Equal<Arguments<Webhooks['create']>, [client.NewWebhook]>;
  newWebhook: Equal<client.NewWebhook, Body<Api['webhooks']['create']>>;
  webhookUpdate: Equal<Arguments<Webhooks['update']>, [Path<Api['webhooks']['update']>['id'], client.WebhookPatch]>;
  webhookPatch: Equal<client.WebhookPatch, Body<Api['webhooks']['update']>>;
  webhookTest: Equal<Arguments<Webhooks['test']>, [Path<Api['webhooks']['test']>['id']]>;
  webhookReplay: Equal<Arguments<Webhooks['replay']>, [Path<Api['webhooks']['replay']>['id'], client.WebhookReplay]>;
  newWebhookReplay: Equal<client.WebhookReplay, Body<Api['webhooks']['replay']>>;
  deliveryQuery: Equal<client.DeliveryQuery, Query<Api['deliveries']['list']>>;
  deliveryList: Equal<
    Arguments<Deliveries['list']>,
    [Path<Api['deliveries']['list']>['id'], query?: client.DeliveryQuery]
  >;
  deliveryGet: Equal<Arguments<Deliveries['get']>, [Path<Api['deliveries']['get']>['id']]>;
  deliveryReplay: Equal<Arguments<Deliveries['replay']>, [Path<Api['deliveries']['replay']>['id']]>;
  webhookDelete: Equal<Arguments<Webhooks['delete']>, [Path<Api['webhooks']['delete']>['id']]>;
}>();

/** What is answered is what the contract answers, with open enums. */
holds<{
  ping: Equal<Item<ItsmClient['ping']['get']>, ItemOf<Api['ping']['get']>>;
  me: Equal<Item<Me['get']>, ItemOf<Api['me']['get']>>;
  ticketList: Equal<Row<Tickets['list']>, RowOf<Api['tickets']['list']>>;
  ticketGet: Equal<Item<Tickets['get']>, ItemOf<Api['tickets']['get']>>;
  ticketCreate: Equal<Item<Tickets['create']>, ItemOf<Api['tickets']['create']>>;
  ticketUpdate: Equal<Item<Tickets['update']>, ItemOf<Api['tickets']['update']>>;
  ticketCreateMany: Equal<Item<Tickets['createMany']>, ItemOf<Api['tickets']['createMany']>>;
  ticketUpdateMany: Equal<Item<Tickets['updateMany']>, ItemOf<Api['tickets']['updateMany']>>;
  commentList: Equal<Row<Comments['list']>, RowOf<Api['comments']['list']>>;
  commentCreate: Equal<Item<Comments['create']>, ItemOf<Api['comments']['create']>>;
  activityOfTicket: Equal<Row<Activities['ofTicket']>, RowOf<Api['activities']['ofTicket']>>;
  activityOfAsset: Equal<Row<Activities['ofAsset']>, RowOf<Api['activities']['ofAsset']>>;
  assetList: Equal<Row<Assets['list']>, RowOf<Api['assets']['list']>>;
  assetGet: Equal<Item<Assets['get']>, ItemOf<Api['assets']['get']>>;
  assetCreate: Equal<Item<Assets['create']>, ItemOf<Api['assets']['create']>>;
  assetUpdate: Equal<Item<Assets['update']>, ItemOf<Api['assets']['update']>>;
  projectList: Equal<Row<Projects['list']>, RowOf<Api['projects']['list']>>;
  projectGet: Equal<Item<Projects['get']>, ItemOf<Api['projects']['get']>>;
  taskList: Equal<Row<Tasks['list']>, RowOf<Api['tasks']['list']>>;
  taskCreate: Equal<Item<Tasks['create']>, ItemOf<Api['tasks']['create']>>;
  taskGet: Equal<Item<Tasks['get']>, ItemOf<Api['tasks']['get']>>;
  taskUpdate: Equal<Item<Tasks['update']>, ItemOf<Api['tasks']['update']>>;
  userList: Equal<Row<Users['list']>, RowOf<Api['users']['list']>>;
  userGet: Equal<Item<Users['get']>, ItemOf<Api['users']['get']>>;
  webhookGet: Equal<Item<Webhooks['get']>, ItemOf<Api['webhooks']['get']>>;
  webhookList: Equal<Row<Webhooks['list']>, RowOf<Api['webhooks']['list']>>;
  webhookCreate: Equal<Item<Webhooks['create']>, ItemOf<Api['webhooks']['create']>>;
  webhookUpdate: Equal<Item<Webhooks['update']>, ItemOf<Api['webhooks']['update']>>;
  webhookTest: Equal<Item<Webhooks['test']>, ItemOf<Api['webhooks']['test']>>;
  webhookReplay: Equal<Item<Webhooks['replay']>, ItemOf<Api['webhooks']['replay']>>;
  deliveryList: Equal<Row<Deliveries['list']>, RowOf<Api['deliveries']['list']>>;
  deliveryGet: Equal<Item<Deliveries['get']>, ItemOf<Api['deliveries']['get']>>;
  deliveryReplay: Equal<Item<Deliveries['replay']>, ItemOf<Api['deliveries']['replay']>>;
  webhookDelete: Equal<Item<Webhooks['delete']>, ItemOf<Api['webhooks']['delete']>>;
  ticketChanges: Equal<Item<Tickets['changes']>, ChangesOf<Api['tickets']['changes']>>;
  assetChanges: Equal<Item<Assets['changes']>, ChangesOf<Api['assets']['changes']>>;
  projectChanges: Equal<Item<Projects['changes']>, ChangesOf<Api['projects']['changes']>>;
  taskChanges: Equal<Item<Tasks['changes']>, ChangesOf<Api['tasks']['changes']>>;
  userChanges: Equal<Item<Users['changes']>, ChangesOf<Api['users']['changes']>>;
  meta: Equal<client.PageMeta, contract.PageMeta>;
  changesMeta: Equal<client.ChangesMeta, contract.ChangesMeta>;
  detail: Equal<client.ErrorDetail, contract.ErrorDetail>;
  code: Equal<client.ErrorCode, contract.ErrorCode>;
  scope: Equal<client.Scope, contract.Scope>;
}>();

/** The events are those of the contract, told apart by type, and one more for those to come. */
type EventOf<Type extends contract.EventType> = Extract<client.KnownEvent, { type: Type }>;
holds<{
  types: Equal<client.KnownEvent['type'], contract.EventType>;
  ticketCreated: Equal<EventOf<'ticket.created'>['ticket'], Opened<contract.EventPayload<'ticket.created'>>>;
  ticketUpdated: Equal<EventOf<'ticket.updated'>['ticket'], Opened<contract.EventPayload<'ticket.updated'>>>;
  assetCreated: Equal<EventOf<'asset.created'>['asset'], Opened<contract.EventPayload<'asset.created'>>>;
  taskUpdated: Equal<EventOf<'task.updated'>['task'], Opened<contract.EventPayload<'task.updated'>>>;
  ticketChanges: Equal<EventOf<'ticket.updated'>['changes'], Opened<contract.TicketChanges>>;
  taskChanges: Equal<EventOf<'task.updated'>['changes'], Opened<contract.TaskChanges>>;
  changes: Equal<client.Changes, contract.Changes>;
}>();

export function describeEvent(event: WebhookEvent): string {
  switch (event.type) {
    case 'ticket.created':
      return event.ticket.ticketNumber;
    case 'ticket.updated':
      return `${event.ticket.id} ${Object.keys(event.changes)}`;
    case 'asset.created':
      return event.asset.assetTag;
    case 'task.updated':
      return event.task.title;
    default:
      return String((event satisfies client.UnknownEvent).body.type);
  }
}

/** What is known of a change is typed; as a map of anything it goes where it went before it was. */
export function describeChanges({ changes }: EventOf<'ticket.updated'>): string {
  const before: number | null | undefined = changes.assigneeId?.from;
  const status: client.Open<client.TicketStatus> | undefined = changes.status?.to;
  const ofNewerServer: unknown = changes.riskLevel?.to;
  const all: client.Changes = changes;
  // @ts-expect-error: an assignee is no text
  changes.assigneeId?.to satisfies string | undefined;
  return [before, status, ofNewerServer, ...Object.entries(all).map(([name, { to }]) => `${name} ${to}`)].join();
}

export function describeError(error: unknown): string {
  if (isItsmError(error, 'RATE_LIMIT_EXCEEDED')) return (error.retryAfterSeconds satisfies number).toFixed();
  if (isItsmError(error, 'INSUFFICIENT_SCOPE')) return error.requiredScope satisfies string;
  if (isItsmError(error)) return error.details.map(({ path }) => path).join();
  return 'not ours';
}

/** What does not fit is refused. */
export async function refused(api: ItsmClient): Promise<void> {
  // @ts-expect-error: no such status can be asked for
  await api.tickets.list({ status: 'NEW' });
  // @ts-expect-error: no such filter
  await api.projects.list({ priority: 'HIGH' });
  // @ts-expect-error: the description is missing
  await api.tickets.create({ title: 'VPN drops', type: 'INCIDENT', category: 'NETWORK' });
  // @ts-expect-error: the type of a ticket cannot change
  await api.tickets.update(1, { type: 'CHANGE' });
  const { status } = await api.tickets.get(1);
  // Other values than today's may come.
  if (status === 'ON_HOLD_IN_2030') status satisfies string;
}
