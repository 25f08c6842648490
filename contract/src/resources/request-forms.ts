import * as z from 'zod';
import { changesOf } from '../changes.ts';
import { endpoints, item, list, listQuery, meta, openEnum } from '../endpoint.ts';
import {
  CustomFields,
  CustomFieldValue,
  Description,
  ExternalId,
  FormKey,
  Id,
  Priority,
  responseText,
  StoredFieldValue,
  TeamId,
  Title,
  trimmedText,
  versionFields,
} from '../fields.ts';
import { UserReference } from '../references.ts';
import { Tags } from '../tags.ts';
import { CustomFieldKey } from './custom-fields.ts';
import { TicketType } from './ticket-reference.ts';
import { AssetIds, CategoryConfigId, NamedWatchers, Ticket, TicketCategory } from './tickets.ts';

/** The maximum number of request forms of a workspace, including inactive ones, and of fields of a form. */
export const [maxRequestForms, maxFormFields] = [100, 30];

/** The names of endpoints below `/request-forms`, which can't be keys. */
const reservedKeys = ['bulk', 'changes'];

const NewFormKey = FormKey.refine((key) => !reservedKeys.includes(key), 'is reserved. Choose a different key.');
const Name = trimmedText(1, 100).meta({ description: 'The name of the form for people.' });
const FormDescription = trimmedText(1, 1000).meta({ description: 'What the form is for, or null if not set.' });
const Active = z.boolean().meta({ description: 'Whether the form can be submitted.' });
const TicketTags = Tags.meta({ description: 'The tags of tickets from this form.' });
const TitleTemplate = trimmedText(1, 255).meta({
  description:
    'The default title of tickets from this form. If null, the title is the name of the form. ' +
    'The server replaces field keys in braces with the answers, as in `Laptop for {site}`.',
});
const Help = trimmedText(1, 300).meta({ description: 'An explanation of the question for people, or null.' });
const Required = z.boolean().meta({
  description: 'Whether an answer is required. If the field has a default, it replaces an absent answer.',
});
const Default = StoredFieldValue.meta({
  description: 'The value of the field if the answer is absent, or null if there is no default.',
});
const Fixed = StoredFieldValue.meta({
  description: 'The value of the field in every ticket, or null. If it is set, the form does not ask for an answer.',
});
for (const value of [Default, Fixed]) openEnum.set(value, CustomFieldValue);

/** A field of a form. */
export const RequestFormField = z
  .object({
    key: CustomFieldKey.meta({ description: 'The key of the custom field of tickets.' }),
    required: Required,
    default: Default,
    fixed: Fixed,
    help: responseText(Help).nullable(),
  })
  .meta({ id: 'RequestFormField', description: 'A custom field of tickets in a form.' });
export type RequestFormField = z.output<typeof RequestFormField>;

const example = {
  id: 1,
  key: 'laptop',
  name: 'New laptop',
  description: 'Request a laptop for yourself or a colleague.',
  active: true,
  type: 'SERVICE_REQUEST',
  priority: 'MEDIUM',
  tags: ['hardware-request'],
  titleTemplate: 'Laptop for {site}',
  createdAt: '2025-02-01T08:00:00.000Z',
  updatedAt: '2025-02-01T08:00:00.000Z',
  etag: '"1-m6lwkjk0"',
} as const;

const shown = {
  id: Id,
  key: FormKey,
  name: responseText(Name),
  description: responseText(FormDescription).nullable(),
  active: Active,
  type: TicketType.meta({ description: 'The type of tickets from this form.' }),
  priority: Priority.meta({ description: 'The priority of tickets from this form.' }),
  tags: TicketTags,
  titleTemplate: responseText(TitleTemplate).nullable(),
};

export const RequestForm = z
  .object({ ...shown, ...versionFields })
  .meta({ id: 'RequestForm', description: 'A form with which users request something.', example });
export type RequestForm = z.output<typeof RequestForm>;

/** The JSON Schema of the answers in the examples. */
const exampleSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { site: { title: 'Site', type: 'string', oneOf: [{ const: 'Berlin', title: 'Berlin' }] } },
  required: ['site'],
  additionalProperties: false,
};

export const RequestFormDetail = z
  .object({
    ...shown,
    fields: z.array(RequestFormField).meta({ description: 'The fields, in the order that an administrator chose.' }),
    schema: z.record(z.string(), z.unknown()).meta({
      description:
        'The JSON Schema (2020-12) of `answers`. It contains the active fields and options of the form, and all fields ' +
        'that the workspace requires. If the schema changes, the `etag` of the form also changes.',
    }),
    ...versionFields,
  })
  .meta({
    id: 'RequestFormDetail',
    description: 'A form with its fields and the JSON Schema of its answers.',
    example: {
      ...example,
      fields: [{ key: 'site', required: true, default: null, fixed: null, help: 'Where do you work?' }],
      schema: exampleSchema,
    },
  });
export type RequestFormDetail = z.output<typeof RequestFormDetail>;

/** A submitted form. */
export const RequestFormSubmission = z
  .strictObject({
    answers: CustomFields.meta({
      id: 'RequestFormAnswers',
      description: 'The answers, by field key, as `schema` of the form describes. Omit fields without an answer.',
      example: { site: 'Berlin' },
    }),
    title: Title.nullish().meta({
      description: 'The title. By default, the server creates it from the form and the answers.',
    }),
    description: Description.nullish().meta({
      description: 'The full description. By default, it has a line such as `Site: Berlin` for each answer.',
    }),
    requesterId: UserReference.nullish().meta({
      description: 'The user who requests the ticket, by id or email address. The default is the user of the API key.',
    }),
    externalId: ExternalId.nullish(),
    watcherUserIds: NamedWatchers.nullish(),
    assetIds: AssetIds.nullish(),
  })
  .meta({
    id: 'RequestFormSubmission',
    description: 'The answers to the questions of a form, and optional fields of the ticket.',
    example: { answers: { site: 'Berlin' } },
  });
export type RequestFormSubmission = z.output<typeof RequestFormSubmission>;

/** A field of a form in a request of an administrator. */
const NewRequestFormField = z
  .strictObject({
    key: CustomFieldKey,
    required: Required.default(false),
    default: CustomFieldValue.default(null),
    fixed: CustomFieldValue.default(null),
    help: Help.nullable().default(null),
  })
  .refine((field) => field.default === null || field.fixed === null, {
    path: ['fixed'],
    message: "can't be combined with default",
  });

const writtenFields = {
  name: Name,
  description: FormDescription.nullish(),
  type: TicketType,
  category: TicketCategory.nullish(),
  categoryConfigId: CategoryConfigId.nullish(),
  priority: Priority.optional(),
  teamId: TeamId.nullish(),
  tags: Tags.optional(),
  titleTemplate: TitleTemplate.nullish(),
  fields: z
    .array(NewRequestFormField)
    .max(maxFormFields, `must contain at most ${maxFormFields} fields`)
    .refine((fields) => new Set(fields.map(({ key }) => key)).size === fields.length, 'must contain each field once')
    .optional(),
};

/** A new form. */
export const NewRequestForm = z.strictObject({ key: NewFormKey, ...writtenFields });
export type NewRequestForm = z.output<typeof NewRequestForm>;

/** Changes to a form. */
export const RequestFormPatch = z.strictObject({ ...writtenFields, active: Active }).partial();
export type RequestFormPatch = z.output<typeof RequestFormPatch>;

/** A form as administrators see it. */
export const AdministeredForm = RequestFormDetail.omit({ schema: true })
  .extend({
    /** Without it and without an active ticket category, tickets get the category OTHER. */
    category: TicketCategory.nullable(),
    categoryConfigId: responseText(CategoryConfigId).nullable(),
    teamId: TeamId.nullable(),
    /** What a submit leaves out, such as `The team is inactive.` */
    problems: z.array(z.string()),
  })
  .meta({
    example: {
      ...{ ...example, titleTemplate: 'Request for a laptop', fields: [], category: 'HARDWARE' },
      ...{ categoryConfigId: null, teamId: null, problems: [] },
    },
  });
export type AdministeredForm = z.output<typeof AdministeredForm>;

export const RequestFormQuery = listQuery({});
export type RequestFormQuery = z.output<typeof RequestFormQuery>;

const FormKeyParam = z.object({ key: FormKey });
const read = meta({ scope: 'any', group: 'users' });

export const requestForms = endpoints({
  list: {
    method: 'GET',
    path: '/request-forms',
    summary: 'List request forms',
    description:
      'Returns all forms of the workspace, including inactive ones, in the order of their keys. ' +
      'With `perPage=100`, the first page contains all forms.',
    metadata: meta({
      ...{ scope: 'any', group: 'users' },
      agent: {
        tool: 'list_forms',
        when: 'With key, returns the schema of its answers.',
        short: ['key', 'name', 'description', 'active'],
      },
    }),
    query: RequestFormQuery,
    responses: { 200: list(RequestForm) },
  },
  changes: changesOf('/request-forms', RequestForm, read),
  get: {
    method: 'GET',
    path: '/request-forms/:key',
    summary: 'Get a request form',
    description: 'Returns a form with the JSON Schema of its answers, even if the form is inactive.',
    metadata: read,
    pathParams: FormKeyParam,
    responses: { 200: item(RequestFormDetail) },
  },
  submit: {
    method: 'POST',
    path: '/request-forms/:key/tickets',
    summary: 'Submit a request form',
    description:
      'Creates a ticket from the answers, and emits `ticket.created`. ' +
      'Returns 404 if the form is inactive. The document of your workspace (`GET /openapi.json`) has an operation with ' +
      'typed answers for each active form.',
    metadata: meta({
      ...{ scope: 'tickets:write', group: 'tickets', proposable: 'requestForms_submit' },
      agent: {
        tool: 'submit_form',
        when: 'Creates a ticket.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'teamId', 'tags', 'updatedAt'],
      },
    }),
    pathParams: FormKeyParam,
    body: RequestFormSubmission,
    responses: { 201: item(Ticket) },
  },
});
