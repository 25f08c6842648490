import type { Question } from '../answers.ts';
import { pathPrefix } from '../endpoint.ts';
import type { CustomFieldType } from '../resources/custom-fields.ts';
import {
  anyValue,
  describeGiven,
  describeHidden,
  isInherited,
  type NamedField,
  referTo,
  toPlainMarkdown,
} from './described-fields.ts';
import { quoted } from './samples.ts';
import type { CodeSample, Components, OpenApi, Operation, Response, Schema } from './types.ts';

/*
 * Describes a typed operation for each active request form of a workspace (docs/decisions/request-forms-design.md). The
 * operations share all responses, and refer to one schema for each custom field.
 */

/** An active form, as far as the document describes it. */
export interface DescribedForm {
  key: string;
  name: string;
  questions: Pick<Question, 'key' | 'required' | 'default' | 'help'>[];
  /** Whether the operation has no sample. */
  isShort?: boolean;
}

/** The path that the operations of the forms replace. */
const generalPath = '/request-forms/{key}/tickets';

/** The names of the responses of the general operation that other operations don't share, by status. */
const ownResponses: Record<string, string> = { 201: 'FormTicket', 400: 'FormError' };

/** The parts of the general document that describe how to submit a form. */
export interface FormTemplate {
  /** The document without these parts. */
  document: OpenApi;
  operation: Operation;
  /** The schema of a submitted form with any answers. */
  ticket: Schema;
}

/** Removes the operation that submits a form. Its schemas stay, because proposals refer to them. */
export function withoutForms(document: OpenApi): FormTemplate {
  const { [generalPath]: { post: operation } = {}, ...paths } = document.paths;
  const { RequestFormSubmission } = document.components.schemas;
  const { answers: _, ...others } = (RequestFormSubmission?.properties ?? {}) as Schema;
  return {
    document: { ...document, paths },
    operation: operation as Operation,
    // Each form adds the type of the answers. With any other type here, generated code would accept any answers.
    ticket: { ...RequestFormSubmission, properties: { answers: {}, ...others }, examples: undefined },
  };
}

/** The paths and components that the forms of a workspace add to its document. */
type FormParts = Pick<OpenApi, 'paths'> & Pick<Components, 'schemas' | 'responses'>;

/** Describes the forms of a workspace. @param fields the custom fields of its tickets */
export function describeForms(
  forms: readonly DescribedForm[],
  fields: readonly NamedField[],
  { operation, ticket }: FormTemplate,
): FormParts {
  const responses: Record<string, Response> = {};
  const schemas: Record<string, Schema> = {};
  const paths: FormParts['paths'] = {};
  if (forms.length === 0) return { responses, schemas, paths };
  const refs = Object.entries(operation.responses).map(([status, response]) => {
    const name = ownResponses[status];
    if (name === undefined) return [status, response];
    responses[name] = response as Response;
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  schemas.FormTicket = ticket;
  const ofKey = new Map(fields.map((field, index) => [field.key, { field, name: fieldName(field, index) }]));
  for (const form of forms) {
    const asked = form.questions.flatMap((question) => {
      const found = ofKey.get(question.key);
      return found === undefined ? [] : [{ ...question, ...found }];
    });
    for (const { field, name } of asked) schemas[name] ??= describeGiven(field, { isNullable: false });
    const name = `Form${form.key.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Answers`;
    schemas[name] = describeAnswers(asked);
    paths[generalPath.replace('{key}', form.key)] = {
      post: {
        operationId: `${operation.operationId}_${form.key.replaceAll('-', '_')}`,
        summary: toPlainMarkdown(form.name),
        description: 'Creates a ticket.',
        tags: operation.tags,
        'x-required-scope': operation['x-required-scope'] ?? '',
        ...(!form.isShort && { 'x-codeSamples': [curlSample(form.key, asked)] }),
        parameters: operation.parameters?.slice(1) ?? [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: bodyWith(name) } },
        } as never,
        responses: Object.fromEntries(refs),
      },
    };
  }
  return { responses, schemas, paths };
}

/** Returns the name of the schema of a field. Code generators give some names the same type, so these have a number. */
function fieldName({ key, isAmbiguous }: NamedField, index: number): string {
  return `TicketField_${isAmbiguous ? index : key}`;
}

type Asked = DescribedForm['questions'][number] & { field: NamedField; name: string };

/** Returns the schema of the answers. Names that all objects of JavaScript have are hidden from code generators. */
function describeAnswers(asked: readonly Asked[]): Schema {
  const hidden = asked.filter(({ key }) => isInherited(key));
  const shown = asked.filter(({ key }) => !isInherited(key));
  const required = shown.flatMap((question) => (question.required ? question.key : []));
  return {
    type: 'object',
    properties: Object.fromEntries(shown.map((question) => [question.key, describeQuestion(question)])),
    ...(required.length > 0 && { required }),
    ...describeHidden(Object.fromEntries(hidden.map(({ key, name }) => [`^${key}$`, referTo(name)]))),
    additionalProperties: hidden.length > 0 ? anyValue : false,
  };
}

function describeQuestion({ name, help, default: given }: Asked): Schema {
  const texts = [help, given === null ? null : `Default: ${JSON.stringify(given)}`].filter((text) => text !== null);
  return { ...referTo(name), ...(texts.length > 0 && { description: toPlainMarkdown(texts.join(' ')) }) };
}

function bodyWith(answers: string): Schema {
  return { allOf: [referTo('FormTicket'), { properties: { answers: referTo(answers) } }] };
}

/** An answer to a question of each type without options. */
const samples: Partial<Record<CustomFieldType, unknown>> = {
  ...{ TEXT: '…', NUMBER: 1, BOOLEAN: true, DATE: '2026-11-20', USER: 1 },
};

function sampleOf({ type, options }: NamedField): unknown {
  const value = options?.find(({ active }) => active)?.value ?? '…';
  return type === 'MULTI_SELECT' ? [value] : (samples[type] ?? value);
}

/** Returns a sample that answers the required questions. */
function curlSample(key: string, asked: readonly Asked[]): CodeSample {
  const required = asked.filter((question) => question.required);
  const answers = Object.fromEntries(required.map(({ field }) => [field.key, sampleOf(field)]));
  const url = `"$ITSM_URL${pathPrefix}/request-forms/${key}/tickets"`;
  const source = `curl ${url} -H "X-API-Key: $ITSM_KEY" --json ${quoted(JSON.stringify({ answers }))}`;
  return { lang: 'shell', label: 'curl', source };
}
