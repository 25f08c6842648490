import type { CustomFieldDefinition, CustomFields, Question, TicketCategory } from '@itsm-api/contract';
import type { RequestForm as Columns } from '../../../generated/prisma/client.ts';
import { empty, type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { type None, oneAsJson } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { findMisfit } from '../custom-fields/value-checks.ts';

/* Reads forms together with everything that they depend on, and resolves what a submit asks for and sets. */

/** A row of `request_forms`, and the state of its team and its ticket category. */
interface StoredForm extends Omit<Columns, 'tenantId' | 'id' | 'plainKey' | 'teamId' | 'createdAt' | 'updatedAt'> {
  id: number;
  teamId: number | null;
  createdAt: string;
  updatedAt: string;
  hasActiveTeam: boolean;
  hasActiveCategory: boolean;
  /** The fixed category that the ticket category refines, or null. */
  refinedCategory: TicketCategory | null;
}

type Definition = Pick<
  CustomFieldDefinition,
  'key' | 'type' | 'label' | 'description' | 'options' | 'required' | 'active'
>;

interface Found {
  forms: StoredForm[];
  /** The definitions of the fields of the forms, and of all fields that a new ticket must have, by key. */
  definitions: Definition[];
}

/** One statement reads a form and its definitions, so a concurrent change of either can't mix two versions. */
const defineSelect = <Input extends object>(condition: (given: Record<keyof Input, Parameter>) => Sql) =>
  oneAsJson<Input, Found>(
    (given) => sql`WITH f AS MATERIALIZED (
      SELECT * FROM request_forms WHERE tenant_id = ${tenant} ${condition(given)}
    ), d AS (
      SELECT key, type, label, description, options, required, active FROM custom_field_definitions
      WHERE tenant_id = ${tenant} AND resource = 'TICKET' AND EXISTS (SELECT FROM f)
        AND (required AND active OR key IN (SELECT field ->> 'key' FROM f, jsonb_array_elements(fields) AS field))
    )
    SELECT coalesce((SELECT json_agg(d ORDER BY key) FROM d), '[]') AS definitions,
      coalesce((SELECT json_agg(form ORDER BY key) FROM (
        SELECT f.id, f.key, f.name, f.description, f.active, f.type, f.category, f.category_config_id AS "categoryConfigId",
          f.priority, f.team_id AS "teamId", f.tags, f.title_template AS "titleTemplate", f.fields, f.version,
          f.created_at AS "createdAt", f.updated_at AS "updatedAt",
          EXISTS (SELECT FROM teams WHERE tenant_id = ${tenant} AND id = f.team_id AND active) AS "hasActiveTeam",
          category_config_id IS NOT NULL AND (c.id IS NOT NULL OR NOT EXISTS (
            SELECT FROM ticket_categories WHERE tenant_id = ${tenant}
          )) AS "hasActiveCategory",
          c.category AS "refinedCategory"
        FROM f LEFT JOIN ticket_categories c ON c.tenant_id = ${tenant} AND c.id = f.category_config_id AND c.active
      ) AS form), '[]') AS forms`,
  );
const selectForm = defineSelect<{ key: string }>(({ key }) => sql`AND key = ${key}`);
const selectForms = defineSelect<None>(() => empty);

/** A form with everything that a submit asks for and sets. Leaves out what is no longer active. */
export interface ResolvedForm extends StoredForm {
  /** The questions in order. The fields that the workspace requires and the form lacks come last. */
  questions: Question[];
  /** The fixed values of fields, by key. */
  fixedValues: CustomFields;
  /** What is left out, as sentences for administrators. */
  problems: string[];
}

/** Returns a form by its key, or undefined if the workspace has none. */
export async function findForm(db: TenantClient, key: string): Promise<ResolvedForm | undefined> {
  const found = await db.$sql(selectForm, { key });
  return toResolvedForms(found)[0];
}

/** Returns all forms, in the order of their keys. */
export async function findForms(db: TenantClient): Promise<ResolvedForm[]> {
  return toResolvedForms(await db.$sql(selectForms));
}

function toResolvedForms(found: Found | undefined): ResolvedForm[] {
  const { forms = [], definitions = [] } = found ?? {};
  const ofKey = new Map(definitions.map((definition) => [definition.key, withActiveOptions(definition)]));
  return forms.map((form) => resolveForm(form, ofKey));
}

function withActiveOptions({ options, ...definition }: Definition): Definition {
  return { ...definition, options: options?.filter(({ active }) => active) ?? null };
}

function resolveForm(form: StoredForm, ofKey: ReadonlyMap<string, Definition>): ResolvedForm {
  const fixedValues: CustomFields = {};
  const problems = [
    ...(form.teamId === null || form.hasActiveTeam ? [] : ['The team is inactive.']),
    ...(form.categoryConfigId === null || form.hasActiveCategory ? [] : ['The ticket category is inactive.']),
  ];
  const questions = form.fields.flatMap(({ key, required, help, ...values }): Question[] => {
    const definition = ofKey.get(key);
    if (!definition?.active) {
      problems.push(`The custom field ${key} is inactive.`);
      return [];
    }
    const question = toQuestion(definition, { required, help });
    const [preset, fixed] = [values.default, values.fixed].map((value) => (fits(question, value) ? value : null));
    if (preset !== values.default) problems.push(`The default of ${key} is an inactive option.`);
    if (fixed !== values.fixed) problems.push(`The fixed value of ${key} is an inactive option.`);
    if (fixed !== null && fixed !== undefined) fixedValues[key] = fixed;
    // Without its fixed value, a field is a question again only if a ticket must have a value.
    if (values.fixed !== null && (fixed !== null || !question.required)) return [];
    return [{ ...question, default: preset ?? null, required: question.required && preset === null }];
  });
  const appended = [...ofKey.values()].filter((definition) => {
    return definition.required && definition.active && !form.fields.some(({ key }) => key === definition.key);
  });
  return {
    ...form,
    questions: [...questions, ...appended.map((each) => toQuestion(each, { required: true, help: null }))],
    ...{ fixedValues, problems },
  };
}

function toQuestion(
  { key, type, label, description, options, ...definition }: Definition,
  { required, help }: Pick<Question, 'required' | 'help'>,
): Question {
  return {
    ...{ key, type, label, options },
    help: help ?? description,
    required: required || definition.required,
    default: null,
  };
}

/** Returns the validation message if a value is no answer to a question, or undefined if it is one. */
export function findAnswerFault({ key, type, options }: Question, value: unknown): string | undefined {
  const allowed = options?.map((option) => option.value) ?? null;
  return findMisfit({ key, type, allowed, required: false, active: true }, value);
}

function fits(question: Question, value: unknown): boolean {
  return value === null || findAnswerFault(question, value) === undefined;
}
