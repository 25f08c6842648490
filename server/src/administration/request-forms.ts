import {
  AdministeredForm,
  integerFromText,
  NewRequestForm,
  RequestFormPatch,
  RequestFormQuery,
  TeamId,
} from '@itsm-api/contract';
import type * as z from 'zod';
import { FieldLines, formatFields } from '../resources/request-forms/field-lines.ts';
import { TagText } from '../resources/shared/tags.ts';
import { detailsOf, type Issue, unknownField, validationError } from '../shared/validation.ts';
import { type Column, converter, declareNoun } from './noun.ts';

const Fields = NewRequestForm.shape.fields.unwrap();
const belowFields = (issue: Issue): Issue => ({ ...issue, path: ['fields', ...(issue.path ?? [])] });
const problems: Column<typeof AdministeredForm> = {
  ...{ title: 'Problems', style: 'warning' },
  cell: ({ problems }) => problems.join(' ') || null,
};

export const requestForms = declareNoun({
  ...{ path: 'request-forms', one: 'request form', shortOne: 'form', many: 'request forms', audit: 'form' },
  schemas: { row: AdministeredForm, create: NewRequestForm, update: RequestFormPatch, query: RequestFormQuery },
  ...{ key: ['key'], example: 'laptop', title: ['name'], order: 'in the order of their keys', isShort: true },
  fields: {
    key: {
      ...{ label: 'Key', about: 'key, which requests use' },
      hint: "The name of the form in requests, such as new-laptop. You can't change it later.",
    },
    name: { label: 'Name' },
    description: { label: 'Description', lines: 4 },
    type: { label: 'Ticket type' },
    category: { label: 'Category' },
    categoryConfigId: {
      ...{ label: 'Ticket category', option: '--category-config-id <id>', suggest: 'categories' },
      about: 'ID of a ticket category',
      hint: 'The ID of a ticket category. If this category is missing or inactive, and the form has no category, tickets get the category OTHER.',
    },
    priority: { label: 'Priority', fallback: 'MEDIUM' },
    teamId: {
      ...{ label: 'Team', option: '--team-id <id>', suggest: 'teams', about: 'ID of the team' },
      hint: 'The ID of an active team.',
    },
    tags: {
      ...{ label: 'Tags', option: '--tags <tags>', about: 'tags, separated by commas; they replace all tags' },
      hint: 'Separated by commas.',
    },
    titleTemplate: {
      ...{ label: 'Title template', about: 'title of tickets that are submitted without one' },
      hint: 'The title of tickets if a request has no title, such as Laptop for {site}. Default: the name of the form.',
    },
    fields: {
      ...{ label: 'Fields', option: '--fields <field...>', lines: 8 },
      about: "field such as 'site; required'; repeat the option for all fields",
      hint: 'One custom field of tickets per line, with its settings (required, help, default, fixed). Example: site; required; help=Where? For values with line breaks or semicolons, write JSON.',
    },
    active: { label: 'Active: requests can submit the form' },
  },
  table: ['key', 'name', 'type', 'active', problems, 'updatedAt'],
  list: ['name', 'key', 'type', 'active', problems, 'updatedAt'],
  card: [
    ...(['key', 'name', 'description', 'active', problems, 'type', 'category'] as const),
    ...([['categoryConfigId', 'Ticket category'], 'priority', ['teamId', 'Team'], 'tags', 'titleTemplate'] as const),
    { title: 'Fields', cell: ({ fields }) => formatFields(fields).replaceAll('\n', ', ') || null },
    ...(['createdAt', 'updatedAt'] as const),
  ],
  facts: ['key', problems, 'createdAt', 'updatedAt'],
  lead: 'The server creates a ticket from each submitted form. The column Problems lists inactive teams, categories, fields and options, which the server omits in new tickets.',
  verbs: {
    create: {
      details: 'The key never changes.',
      examples: [
        "laptop --name 'New laptop' --type SERVICE_REQUEST --category HARDWARE --fields 'site; required' --fields 'floor; default=2'",
      ],
    },
    update: {
      details: '`--fields` replaces all fields.',
      examples: ["laptop --title-template 'Laptop for {site}'", "laptop --fields 'site; required; help=Where?'"],
    },
    deactivate: {
      summary: "Deactivate a request form: requests can't submit it",
      details: 'Existing tickets keep the key of the form.',
    },
  },
  async load() {
    const [queries, { findFieldTypes, parseFieldText }] = await Promise.all([
      import('../resources/request-forms/queries.ts'),
      import('../resources/custom-fields/field-text.ts'),
    ]);
    return {
      list: queries.listAdministeredForms,
      get: (context, { key }) => queries.getAdministeredForm(context, key),
      create: queries.createForm,
      update: (context, { key }, patch) => queries.updateForm(context, key, patch),
      converters: {
        teamId: converter(
          integerFromText(TeamId),
          (_context, id) => id,
          (_context, { teamId }: AdministeredForm) => String(teamId ?? ''),
        ),
        tags: converter(
          TagText,
          (_context, tags) => tags,
          (_context, { tags }: AdministeredForm) => tags.join(','),
        ),
        fields: converter(
          FieldLines.pipe(Fields),
          async (context, fields: z.output<typeof Fields>) => {
            // A form can still have inactive fields, whose values must stay equal to the stored ones.
            const types = await findFieldTypes(context, { resource: 'TICKET' });
            const parse = (key: string, value: unknown) =>
              typeof value === 'string' ? parseFieldText(types.get(key), value) : value;
            const { data, error } = Fields.safeParse(
              fields.map((field) => ({
                ...field,
                default: parse(field.key, field.default),
                fixed: parse(field.key, field.fixed),
              })),
            );
            // Only the converted values can be invalid, such as a number that is too large.
            if (error) throw validationError(detailsOf(error.issues.map(belowFields), unknownField));
            return data;
          },
          (_context, { fields }: AdministeredForm) => formatFields(fields),
        ),
      },
    };
  },
});
