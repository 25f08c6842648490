import type * as client from '@itsm-api/client';
import { type ItsmClient, isItsmError } from '@itsm-api/client';
import type { WebhookEvent } from '@itsm-api/client/webhooks';
import type * as contract from '@itsm-api/contract';
import type { Contract } from '@itsm-api/contract/ts-rest';
import type * as z from 'zod';

/**
 * The TypeScript compiler checks this file (`pnpm types`). The check fails if the client's types differ from the
 * contract's types.
 */

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

/** Compiles only if every property of the type argument is `true`. */
function holds<_Claims extends Record<string, true>>(): void {}

type Api = Contract;
type Path<Route extends { pathParams: z.ZodType }> = z.input<Route['pathParams']>;
type Query<Route extends { query: z.ZodType }> = z.input<Route['query']>;
type Body<Route extends { body: z.ZodType }> = z.input<Route['body']>;
type Answer<Route> = Route extends { responses: { 200: infer Success extends z.ZodType } }
  ? z.output<Success>
  : Route extends { responses: { 201: infer Success extends z.ZodType } }
    ? z.output<Success>
    : never;

/**
 * Removes parts that only client types have: unknown values, read-only arrays, and the template type of ticket numbers.
 */
type Closed<T> = T extends client.Unknown
  ? never
  : T extends readonly (infer Element)[]
    ? Closed<Element>[]
    : T extends object
      ? { [Key in keyof T]: Key extends 'ticketNumber' ? string : Closed<T[Key]> }
      : T;
/** Removes the index signature of a type, so only the named fields remain. */
type Named<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] };
type Same<Left, Right> = Equal<Closed<Left>, Closed<Right>>;

type ItemOf<Route> = Answer<Route> extends { data: infer Data } ? Data : never;
type RowOf<Route> = Answer<Route> extends { data: (infer Row)[] } ? Row : never;
/** The type of the item array in a bulk request body. */
type ItemsOf<Body> = Body extends { tickets: (infer Item)[] } | { comments: (infer Item)[] } ? Item[] : never;
type DoneOf<Route> = Extract<RowOf<Route>, { data: unknown }>['data'];

/** The arguments of a client method, without its options. */
type Arguments<Method> = Method extends (...given: [...infer Values, options?: client.CallOptions]) => unknown
  ? Values
  : never;
type Item<Method> = Method extends (...given: never) => client.ApiPromise<infer Data> ? Data : never;
type Row<Method> = Method extends (...given: never) => client.ApiList<infer Data> ? Data : never;
type Changed<Method> = Method extends (...given: never) => client.ApiChanges<infer Data> ? Data : never;
type Done<Method> = Method extends (...given: never) => Promise<client.BulkResult<infer _Item, infer Data>>
  ? Data
  : never;

/** An object type with the property names of all members of a union. */
type AllOf<Choice> = { [Name in Choice extends unknown ? keyof Choice : never]: true };

type Me = ItsmClient['me'];
type Tickets = ItsmClient['tickets'];
type Comments = ItsmClient['comments'];
type Links = ItsmClient['links'];
type Assets = ItsmClient['assets'];
type Activities = ItsmClient['activities'];
type Projects = ItsmClient['projects'];
type Tasks = ItsmClient['tasks'];
type Users = ItsmClient['users'];
type Webhooks = ItsmClient['webhooks'];
type Deliveries = ItsmClient['deliveries'];

/** Checks that the client has exactly one method per operation of the contract. */
holds<{
  resources: Equal<Exclude<keyof ItsmClient, 'rateLimits'>, keyof Api>;
  ping: Equal<keyof ItsmClient['ping'], keyof Api['ping']>;
  me: Equal<keyof Me, keyof Api['me']>;
  tickets: Equal<keyof Tickets, keyof Api['tickets']>;
  comments: Equal<keyof Comments, keyof Api['comments']>;
  links: Equal<keyof Links, keyof Api['links']>;
  assets: Equal<keyof Assets, keyof Api['assets']>;
  activities: Equal<keyof Activities, keyof Api['activities']>;
  projects: Equal<keyof Projects, keyof Api['projects']>;
  tasks: Equal<keyof Tasks, keyof Api['tasks']>;
  users: Equal<keyof Users, keyof Api['users']>;
  webhooks: Equal<keyof Webhooks, keyof Api['webhooks']>;
  deliveries: Equal<keyof Deliveries, keyof Api['deliveries']>;
}>();

/** Checks that the types of client requests match the contract. */
holds<{
  ping: Same<Arguments<ItsmClient['ping']['get']>, []>;
  me: Same<Arguments<Me['get']>, []>;
  ticketQuery: Same<client.TicketQuery, Query<Api['tickets']['list']>>;
  ticketList: Same<Arguments<Tickets['list']>, [query?: client.TicketQuery]>;
  changesQuery: Same<client.ChangesQuery, Query<Api['tickets']['changes']>>;
  ticketChanges: Same<Arguments<Tickets['changes']>, [query?: client.FollowQuery]>;
  ticketGet: Same<Arguments<Tickets['get']>, [Path<Api['tickets']['get']>['id']]>;
  ticketReference: Equal<Path<Api['tickets']['get']>['id'], number | `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`>;
  ticketCreate: Same<Arguments<Tickets['create']>, [client.NewTicket]>;
  newTicket: Same<AllOf<client.NewTicket>, AllOf<Body<Api['tickets']['create']>>>;
  ticketUpdate: Same<Arguments<Tickets['update']>, [Path<Api['tickets']['update']>['id'], client.TicketPatch]>;
  ticketPatch: Same<client.TicketPatch, Body<Api['tickets']['update']>>;
  ticketCreateMany: Same<Arguments<Tickets['createMany']>, [items: readonly client.NewTicketItem[]]>;
  newTickets: Same<AllOf<client.NewTicketItem>, AllOf<ItemsOf<Body<Api['tickets']['createMany']>>[number]>>;
  ticketUpdateMany: Same<Arguments<Tickets['updateMany']>, [items: readonly client.TicketPatchItem[]]>;
  ticketPatches: Same<client.TicketPatchItem[], ItemsOf<Body<Api['tickets']['updateMany']>>>;
  commentQuery: Same<client.CommentQuery, Query<Api['comments']['list']>>;
  commentList: Same<Arguments<Comments['list']>, [Path<Api['comments']['list']>['id'], query?: client.CommentQuery]>;
  commentCreate: Same<Arguments<Comments['create']>, [Path<Api['comments']['create']>['id'], client.NewComment]>;
  newComment: Same<client.NewComment, Body<Api['comments']['create']>>;
  commentCreateMany: Same<
    Arguments<Comments['createMany']>,
    [Path<Api['comments']['createMany']>['id'], items: readonly client.NewComment[]]
  >;
  newComments: Same<client.NewComment[], ItemsOf<Body<Api['comments']['createMany']>>>;
  linkList: Same<Arguments<Links['list']>, [Path<Api['links']['list']>['id'], query?: client.LinkQuery]>;
  linkCreate: Same<Arguments<Links['create']>, [Path<Api['links']['create']>['id'], client.NewLink]>;
  newLink: Same<client.NewLink, Body<Api['links']['create']>>;
  linkDelete: Same<
    Arguments<Links['delete']>,
    [Path<Api['links']['delete']>['id'], Path<Api['links']['delete']>['linkId']]
  >;
  activityQuery: Same<client.TicketActivityQuery, Query<Api['activities']['ofTicket']>>;
  activityOfTicket: Same<
    Arguments<Activities['ofTicket']>,
    [Path<Api['activities']['ofTicket']>['id'], query?: client.TicketActivityQuery]
  >;
  activityOfAsset: Equal<
    Arguments<Activities['ofAsset']>,
    [Path<Api['activities']['ofAsset']>['id'], query?: client.AssetActivityQuery]
  >;
  assetQuery: Same<client.AssetQuery, Query<Api['assets']['list']>>;
  assetList: Same<Arguments<Assets['list']>, [query?: client.AssetQuery]>;
  assetGet: Same<Arguments<Assets['get']>, [Path<Api['assets']['get']>['id']]>;
  assetCreate: Same<Arguments<Assets['create']>, [client.NewAsset]>;
  newAsset: Same<client.NewAsset, Body<Api['assets']['create']>>;
  assetUpdate: Same<Arguments<Assets['update']>, [Path<Api['assets']['update']>['id'], client.AssetPatch]>;
  assetPatch: Same<client.AssetPatch, Body<Api['assets']['update']>>;
  projectQuery: Same<client.ProjectQuery, Query<Api['projects']['list']>>;
  projectList: Same<Arguments<Projects['list']>, [query?: client.ProjectQuery]>;
  projectGet: Same<Arguments<Projects['get']>, [Path<Api['projects']['get']>['id']]>;
  taskQuery: Same<client.TaskQuery, Query<Api['tasks']['list']>>;
  taskList: Same<Arguments<Tasks['list']>, [Path<Api['tasks']['list']>['id'], query?: client.TaskQuery]>;
  taskCreate: Same<Arguments<Tasks['create']>, [Path<Api['tasks']['create']>['id'], client.NewTask]>;
  newTask: Same<client.NewTask, Body<Api['tasks']['create']>>;
  taskGet: Same<Arguments<Tasks['get']>, [Path<Api['tasks']['get']>['taskId']]>;
  taskUpdate: Same<Arguments<Tasks['update']>, [Path<Api['tasks']['update']>['taskId'], client.TaskPatch]>;
  taskPatch: Same<client.TaskPatch, Body<Api['tasks']['update']>>;
  userQuery: Same<client.UserQuery, Query<Api['users']['list']>>;
  userList: Same<Arguments<Users['list']>, [query?: client.UserQuery]>;
  userGet: Same<Arguments<Users['get']>, [Path<Api['users']['get']>['id']]>;
  webhookGet: Same<Arguments<Webhooks['get']>, [Path<Api['webhooks']['get']>['id']]>;
  webhookQuery: Same<client.WebhookQuery, Query<Api['webhooks']['list']>>;
  webhookList: Same<Arguments<Webhooks['list']>, [query?: client.WebhookQuery]>;
  webhookCreate: Same<Arguments<Webhooks['create']>, [client.NewWebhook]>;
  newWebhook: Same<client.NewWebhook, Body<Api['webhooks']['create']>>;
  webhookUpdate: Same<Arguments<Webhooks['update']>, [Path<Api['webhooks']['update']>['id'], client.WebhookPatch]>;
  webhookPatch: Same<client.WebhookPatch, Body<Api['webhooks']['update']>>;
  webhookTest: Same<Arguments<Webhooks['test']>, [Path<Api['webhooks']['test']>['id']]>;
  webhookReplay: Same<Arguments<Webhooks['replay']>, [Path<Api['webhooks']['replay']>['id'], client.WebhookReplay]>;
  newWebhookReplay: Same<client.WebhookReplay, Body<Api['webhooks']['replay']>>;
  deliveryQuery: Same<client.DeliveryQuery, Query<Api['deliveries']['list']>>;
  deliveryList: Same<
    Arguments<Deliveries['list']>,
    [Path<Api['deliveries']['list']>['id'], query?: client.DeliveryQuery]
  >;
  deliveryGet: Same<Arguments<Deliveries['get']>, [Path<Api['deliveries']['get']>['id']]>;
  deliveryReplay: Same<Arguments<Deliveries['replay']>, [Path<Api['deliveries']['replay']>['id']]>;
  webhookDelete: Same<Arguments<Webhooks['delete']>, [Path<Api['webhooks']['delete']>['id']]>;
}>();

/** Checks that the types of client responses match the contract. */
holds<{
  ping: Same<Item<ItsmClient['ping']['get']>, ItemOf<Api['ping']['get']>>;
  me: Same<Item<Me['get']>, ItemOf<Api['me']['get']>>;
  ticketList: Same<Row<Tickets['list']>, RowOf<Api['tickets']['list']>>;
  ticketGet: Same<Item<Tickets['get']>, ItemOf<Api['tickets']['get']>>;
  ticketCreate: Same<Item<Tickets['create']>, ItemOf<Api['tickets']['create']>>;
  ticketUpdate: Same<Item<Tickets['update']>, ItemOf<Api['tickets']['update']>>;
  ticketCreateMany: Same<Done<Tickets['createMany']>, DoneOf<Api['tickets']['createMany']>>;
  ticketUpdateMany: Same<Done<Tickets['updateMany']>, DoneOf<Api['tickets']['updateMany']>>;
  commentList: Same<Row<Comments['list']>, RowOf<Api['comments']['list']>>;
  commentCreate: Same<Item<Comments['create']>, ItemOf<Api['comments']['create']>>;
  linkList: Same<Row<Links['list']>, RowOf<Api['links']['list']>>;
  linkCreate: Same<Item<Links['create']>, ItemOf<Api['links']['create']>>;
  linkDelete: Same<Item<Links['delete']>, ItemOf<Api['links']['delete']>>;
  activityOfTicket: Same<Row<Activities['ofTicket']>, RowOf<Api['activities']['ofTicket']>>;
  activityOfAsset: Same<Row<Activities['ofAsset']>, RowOf<Api['activities']['ofAsset']>>;
  assetList: Same<Row<Assets['list']>, RowOf<Api['assets']['list']>>;
  assetGet: Same<Item<Assets['get']>, ItemOf<Api['assets']['get']>>;
  assetCreate: Same<Item<Assets['create']>, ItemOf<Api['assets']['create']>>;
  assetUpdate: Same<Item<Assets['update']>, ItemOf<Api['assets']['update']>>;
  projectList: Same<Row<Projects['list']>, RowOf<Api['projects']['list']>>;
  projectGet: Same<Item<Projects['get']>, ItemOf<Api['projects']['get']>>;
  taskList: Same<Row<Tasks['list']>, RowOf<Api['tasks']['list']>>;
  taskCreate: Same<Item<Tasks['create']>, ItemOf<Api['tasks']['create']>>;
  taskGet: Same<Item<Tasks['get']>, ItemOf<Api['tasks']['get']>>;
  taskUpdate: Same<Item<Tasks['update']>, ItemOf<Api['tasks']['update']>>;
  userList: Same<Row<Users['list']>, RowOf<Api['users']['list']>>;
  userGet: Same<Item<Users['get']>, ItemOf<Api['users']['get']>>;
  webhookGet: Same<Item<Webhooks['get']>, ItemOf<Api['webhooks']['get']>>;
  webhookList: Same<Row<Webhooks['list']>, RowOf<Api['webhooks']['list']>>;
  webhookCreate: Same<Item<Webhooks['create']>, ItemOf<Api['webhooks']['create']>>;
  webhookUpdate: Same<Item<Webhooks['update']>, ItemOf<Api['webhooks']['update']>>;
  webhookTest: Same<Item<Webhooks['test']>, ItemOf<Api['webhooks']['test']>>;
  webhookReplay: Same<Item<Webhooks['replay']>, ItemOf<Api['webhooks']['replay']>>;
  deliveryList: Same<Row<Deliveries['list']>, RowOf<Api['deliveries']['list']>>;
  deliveryGet: Same<Item<Deliveries['get']>, ItemOf<Api['deliveries']['get']>>;
  deliveryReplay: Same<Item<Deliveries['replay']>, ItemOf<Api['deliveries']['replay']>>;
  webhookDelete: Same<Item<Webhooks['delete']>, ItemOf<Api['webhooks']['delete']>>;
  commentChanges: Same<Changed<Comments['changes']>, RowOf<Api['comments']['changes']>>;
  activityOfTickets: Same<Changed<Activities['ofTickets']>, RowOf<Api['activities']['ofTickets']>>;
  activityOfAssets: Same<Changed<Activities['ofAssets']>, RowOf<Api['activities']['ofAssets']>>;
  ticketChanges: Same<Changed<Tickets['changes']>, RowOf<Api['tickets']['changes']>>;
  assetChanges: Same<Changed<Assets['changes']>, RowOf<Api['assets']['changes']>>;
  projectChanges: Same<Changed<Projects['changes']>, RowOf<Api['projects']['changes']>>;
  taskChanges: Same<Changed<Tasks['changes']>, RowOf<Api['tasks']['changes']>>;
  userChanges: Same<Changed<Users['changes']>, RowOf<Api['users']['changes']>>;
  meta: Equal<client.PageMeta, contract.PageMeta>;
  changesMeta: Equal<client.ChangesMeta, contract.ChangesMeta>;
  detail: Equal<client.ErrorDetail, contract.ErrorDetail>;
  code: Equal<client.ErrorCode, contract.ErrorCode>;
  scope: Equal<client.Scope, contract.Scope>;
}>();

/** Checks that requests accept the email addresses of users, and that responses contain only ids. */
type UserReference = number | `${string}@${string}`;
type Filter<Value> = Value | readonly Value[] | undefined;
holds<{
  requester: Equal<client.NewTicket['requesterId'], UserReference | null | undefined>;
  newTicketAssignee: Equal<client.NewTicket['assigneeId'], UserReference | null | undefined>;
  ticketAssignee: Equal<client.TicketPatch['assigneeId'], UserReference | null | undefined>;
  watchers: Equal<client.TicketPatch['watcherUserIds'], readonly UserReference[] | undefined>;
  itemAssignee: Equal<client.TicketPatchItem['assigneeId'], UserReference | null | undefined>;
  author: Equal<client.NewComment['authorId'], UserReference | undefined>;
  newAsset: Equal<client.NewAsset['assignedToId'], UserReference | null | undefined>;
  asset: Equal<client.AssetPatch['assignedToId'], UserReference | null | undefined>;
  newTask: Equal<client.NewTask['assigneeId'], UserReference | null | undefined>;
  task: Equal<client.TaskPatch['assigneeId'], UserReference | null | undefined>;
  requesterFilter: Equal<client.TicketQuery['requesterId'], Filter<UserReference>>;
  assigneeFilter: Equal<client.TicketQuery['assigneeId'], Filter<UserReference | 'me' | 'none'>>;
  watcherFilter: Equal<client.TicketQuery['watcherUserId'], Filter<UserReference>>;
  assetFilter: Equal<client.AssetQuery['assignedToId'], Filter<UserReference>>;
  taskFilter: Equal<client.TaskQuery['assigneeId'], Filter<UserReference>>;
  inTicket: Equal<client.Ticket['requesterId' | 'assigneeId'], number | null>;
  inWatchers: Equal<client.Ticket['watcherUserIds'], number[]>;
  inComment: Equal<client.Comment['authorId'], number>;
  inAsset: Equal<client.Asset['assignedToId'], number | null>;
  inTask: Equal<client.Task['assigneeId'], number | null>;
  forHandlers: Equal<contract.NewTicket['assigneeId'], number | null | undefined>;
}>();

/** The client's type for events with the given `type`. */
type EventOf<Type extends contract.EventType> = Extract<client.KnownEvent, { type: Type }>;
holds<{
  types: Equal<client.KnownEvent['type'], contract.EventType>;
  ticketCreated: Same<EventOf<'ticket.created'>['ticket'], contract.EventPayload<'ticket.created'>>;
  ticketUpdated: Same<EventOf<'ticket.updated'>['ticket'], contract.EventPayload<'ticket.updated'>>;
  assetCreated: Same<EventOf<'asset.created'>['asset'], contract.EventPayload<'asset.created'>>;
  taskUpdated: Same<EventOf<'task.updated'>['task'], contract.EventPayload<'task.updated'>>;
  ticketComment: Same<NonNullable<EventOf<'ticket.updated'>['comment']>, contract.EventComment>;
  ticketChanges: Same<Named<EventOf<'ticket.updated'>['changes']>, Named<contract.TicketChanges>>;
  taskChanges: Same<Named<EventOf<'task.updated'>['changes']>, Named<contract.TaskChanges>>;
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

/**
 * Checks that the values of known fields in `changes` have specific types, and that all other values have the type
 * `unknown`.
 */
export function describeChanges({ changes }: EventOf<'ticket.updated'>): string {
  const before: number | null | undefined = changes.assigneeId?.from;
  const status: client.Open<client.TicketStatus> | undefined = changes.status?.to;
  const ofNewerServer: unknown = changes.riskLevel?.to;
  const all: client.Changes = changes;
  // @ts-expect-error: the id of an assignee is not a string
  changes.assigneeId?.to satisfies string | undefined;
  return [before, status, ofNewerServer, ...Object.entries(all).map(([name, { to }]) => `${name} ${to}`)].join();
}

export function describeError(error: unknown): string {
  if (isItsmError(error, 'RATE_LIMIT_EXCEEDED')) return (error.retryAfterSeconds satisfies number).toFixed();
  if (isItsmError(error, 'INSUFFICIENT_SCOPE')) return error.requiredScope satisfies string;
  if (isItsmError(error)) return error.details.map(({ path }) => path).join();
  return 'not ours';
}

/** Checks that invalid arguments don't compile. */
export async function rejectInvalidArguments(api: ItsmClient): Promise<void> {
  // @ts-expect-error: NEW is not a ticket status
  await api.tickets.list({ status: 'NEW' });
  // @ts-expect-error: unknown filter
  await api.projects.list({ unknown: 'HIGH' });
  // @ts-expect-error: the description is missing
  await api.tickets.create({ title: 'VPN drops', type: 'INCIDENT', category: 'NETWORK' });
  // @ts-expect-error: `category` and `categoryConfigId` are missing
  await api.tickets.create({ title: 'VPN drops', description: 'Since this morning.', type: 'INCIDENT' });
  // @ts-expect-error: the type of a ticket can't be changed
  await api.tickets.update(1, { type: 'CHANGE' });
  const [params, reason] = [{ id: 1 }, 'The router was replaced.'];
  await api.proposals.create({ operation: 'tickets_update', params, body: { status: 'RESOLVED' }, reason });
  // @ts-expect-error: the body of another operation
  await api.proposals.create({ operation: 'tickets_update', params, body: { name: 'Router' }, reason });
  // @ts-expect-error: the parameters of another operation
  await api.proposals.create({ operation: 'tasks_update', params, body: { title: 'Replace it' }, reason });
  // @ts-expect-error: an operation that can't be proposed
  await api.proposals.create({ operation: 'links_delete', params, body: {}, reason });
  const { status } = await api.tickets.get(1);
  switch (status) {
    case 'OPEN':
      break;
    // @ts-expect-error: unknown status
    case 'OPNE':
      break;
  }
  // @ts-expect-error: unknown status
  if (status === 'ON_HOLD_IN_2030') throw status;
}

/** Checks that TypeScript narrows a value to `Unknown` in the `default` of a `switch` over all known values. */
export function nameOf(status: client.Ticket['status']): string {
  switch (status) {
    case 'OPEN':
    case 'IN_PROGRESS':
    case 'PENDING':
      return 'to do';
    case 'RESOLVED':
    case 'CLOSED':
    case 'CANCELLED':
      return 'done';
    default:
      return (status satisfies client.Unknown).toLowerCase();
  }
}

/** Checks that a program can send received values back to the API, and can pass read-only arrays. */
export async function sentAgain(api: ItsmClient): Promise<void> {
  const read = await api.tickets.get(1);
  const { title, description, type, category, categoryConfigId, priority, watcherUserIds, customFields } = read;
  await api.tickets.create({ title, description, type, category, categoryConfigId, priority, watcherUserIds });
  await api.tickets.update(1, { status: read.status, category, customFields });
  await api.tickets.list({ status: [read.status], priority });
  await api.tickets.get(read.ticketNumber);
  await api.comments.create(read.ticketNumber, { body: 'Done.', visibility: 'PUBLIC' });
  await api.tickets.updateMany([{ id: read.ticketNumber, parentId: read.ticketNumber, priority }]);
  const text: string = read.ticketNumber;
  // @ts-expect-error: a plain string is neither an id nor a ticket number
  await api.tickets.get(`${text}`);
  const given = { title, description, type: 'INCIDENT', categoryConfigId: 'c-1', watcherUserIds: [1, 2] } as const;
  await api.tickets.create(given);
  const { failed } = await api.tickets.createMany([given, given] as const);
  await api.tickets.createMany(failed.map(({ item }) => item));
  await api.tickets.updateMany([read, read].map(({ id }) => ({ id, status: 'RESOLVED' as const })));
  const { events, url } = await api.webhooks.get(1);
  await api.webhooks.update(1, { events, url });
  const asset = await api.assets.get(1);
  await api.assets.update(1, { type: asset.type, status: asset.status, customFields: asset.customFields });
}

interface TicketFields {
  site: client.Open<'berlin' | 'bonn'>;
  floor?: number | null;
  rooms?: readonly client.Open<'a' | 'b'>[] | null;
}

/** Checks that a client with the types of a workspace's custom fields accepts only these fields and options. */
export async function useOwnFields(api: ItsmClient<{ ticket: TicketFields }>): Promise<void> {
  const given = {
    title: 'VPN drops',
    description: 'Since this morning.',
    type: 'INCIDENT',
    category: 'NETWORK',
  } as const;
  const ticket = await api.tickets.create({ ...given, customFields: { site: 'berlin', rooms: ['a'] } });
  ticket.customFields.site satisfies 'berlin' | 'bonn' | client.Unknown | null | undefined;
  // A program can send received values back, and remove a field.
  await api.tickets.update(ticket.id, { customFields: { ...ticket.customFields, floor: null, site: null } });
  for await (const { customFields } of api.tickets.changes()) customFields.floor satisfies number | null | undefined;
  const { done } = await api.tickets.updateMany([{ id: 1, customFields: { floor: 3 } }]);
  done[0]?.customFields.rooms satisfies readonly client.Open<'a' | 'b'>[] | null | undefined;
  await api.tickets.list({ status: 'OPEN', customFields: { site: ['berlin', 'bonn'], rooms: 'a' } });
  // @ts-expect-error: there is no option `berlim`
  await api.tickets.list({ customFields: { site: ['berlim'] } });
  // @ts-expect-error: there is no field `sites`
  await api.tickets.list({ customFields: { sites: 'berlin' } });
  // @ts-expect-error: there is no option `berlim`
  await api.tickets.update(1, { customFields: { site: 'berlim' } });
  // @ts-expect-error: there is no field `sites`
  await api.tickets.create({ ...given, customFields: { site: 'berlin', sites: 'berlin' } });
  // @ts-expect-error: new tickets need the field `site`
  await api.tickets.createMany([{ ...given, customFields: { floor: 3 } }]);
  // @ts-expect-error: there is no field `flor`
  for await (const { customFields } of api.tickets.list()) customFields.flor;
  // Assets have no types, so their fields can have any names and values.
  await api.assets.update(1, { customFields: { anything: [1, 'two'] } });
  const general: ItsmClient = api;
  await general.tickets.list();
}
