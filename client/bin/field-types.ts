import { parseArgs } from 'node:util';
import { type CustomFieldDefinition, type CustomFieldType, isItsmError } from '@itsm-api/client';
import { createClient, describeError, log } from './program.ts';

/*
 * The command `types`. It writes the TypeScript types of the custom fields and the request forms of a workspace, for the
 * parameter of `ItsmClient`.
 */

const usage = `Usage: npx --no @itsm-api/client types [--url <url>] > itsm-fields.d.ts

Writes the TypeScript types of the custom fields and the request forms of your workspace to stdout.

Options:
  --url <url>  the URL of the server (default: ITSM_URL, or http://127.0.0.1:3000)

Environment variables:
  ITSM_KEY  an API key of the workspace, with any scope
  ITSM_URL  the URL of the server
`;

const client = createClient('types', readUrl());
try {
  const definitions = await client.fields.list().toArray();
  const { body } = await client.document.get();
  process.stdout.write(printFile(definitions, (await new Response(body).json()) as Document));
} catch (error) {
  if (!isItsmError(error)) throw error;
  log(describeError(error));
  process.exitCode = 1;
}

function readUrl(): string {
  try {
    const { values } = parseArgs({
      allowPositionals: true,
      options: { url: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit();
    }
    return values.url ?? process.env.ITSM_URL ?? 'http://127.0.0.1:3000';
  } catch (error) {
    log(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** The parts of the OpenAPI document of a workspace that describe its forms. */
interface Document {
  paths: Record<string, { post?: { summary: string; requestBody: unknown } }>;
  components: { schemas: Record<string, AnswersSchema> };
}

interface AnswersSchema {
  properties: object;
  required?: string[];
  /** The questions whose names all objects of JavaScript have, as patterns such as `^constructor$`. */
  else?: { patternProperties: object };
}

function printFile(definitions: readonly CustomFieldDefinition[], document: Document): string {
  const types = (['TICKET', 'ASSET'] as const).map((resource) =>
    printType(
      resource === 'TICKET' ? 'Ticket' : 'Asset',
      definitions.filter((definition) => definition.resource === resource),
    ),
  );
  return `// Written by \`npx --no @itsm-api/client types\`. Run it again after custom fields or request forms have changed.
import type { CustomFields, CustomFieldValue, Open, RequestFormAnswers } from '@itsm-api/client';

${types.join('\n')}
${printForms(definitions, document)}`;
}

/** Prints the types of the answers to the active forms. The types of options are closed. */
function printForms(definitions: readonly CustomFieldDefinition[], { paths, components }: Document): string {
  const forms = Object.entries(paths).flatMap(([path, { post }]) => {
    const key = /^\/request-forms\/(.+)\/tickets$/.exec(path)?.[1];
    const answers = /schemas\/(Form\w+Answers)"/.exec(JSON.stringify(post?.requestBody))?.[1];
    const { properties = {}, required = [], else: hidden } = components.schemas[answers ?? ''] ?? {};
    const patterns = Object.keys(hidden?.patternProperties ?? {});
    const keys = [...Object.keys(properties), ...patterns.map((pattern) => pattern.slice(1, -1))];
    const asked = definitions.filter((each) => each.resource === 'TICKET' && keys.includes(each.key));
    const fields = asked.map((each) => `  ${printAnswer(each, required.includes(each.key))}`);
    // The type `{}` would accept any answers.
    const type = fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}  }`;
    return key === undefined ? [] : [`  '${key}': ${type};\n`];
  });
  const head = '/** The answers to the request forms, by the key of the form. */\n';
  if (forms.length === 0) return `${head}export type Forms = Record<string, RequestFormAnswers>;\n`;
  return `${head}export interface Forms {\n${forms.join('')}}\n`;
}

function printAnswer({ key, label, type, options }: CustomFieldDefinition, isRequired: boolean): string {
  const values = options?.filter(({ active }) => active).map(({ value }) => printText(value));
  // The types of answers are closed.
  const valueType = typeOf(type, values?.join(' | ')).replace(/Open<(.*)>/s, '($1)') + inheritedType(key);
  return `  /** ${printComment(label)} */\n    ${isRequired ? `${key}: ${valueType}` : `${key}?: ${valueType} | undefined`};\n`;
}

/** Prints the type of the custom fields of a resource. Without definitions, the fields can have any names and values. */
function printType(name: string, definitions: readonly CustomFieldDefinition[]): string {
  const head = `/** The custom fields of ${name.toLowerCase()}s. */\n`;
  if (definitions.length === 0) return `${head}export type ${name}Fields = CustomFields;\n`;
  return `${head}export interface ${name}Fields {\n${definitions.map(printField).join('')}}\n`;
}

function printField({ key, label, description, type, options, required, active }: CustomFieldDefinition): string {
  const text = `${label}${description === null ? '' : `: ${description}`}${active ? '' : ' (inactive)'}`;
  const values = options?.filter((option) => option.active).map(({ value }) => printText(value));
  const valueType = active ? typeOf(type, values?.join(' | ')) : 'CustomFieldValue';
  const field = required && active ? `${key}: ${valueType}` : `${key}?: ${valueType} | null | undefined`;
  return `  /** ${printComment(text)} */\n  ${field}${inheritedType(key)};\n`;
}

/** Returns the alternative type of a key such as `constructor`, because every object has a member with this name. */
function inheritedType(key: string): string {
  return key in Object.prototype ? ` | Object['${key}']` : '';
}

/** Prints a text so that it can't end the comment, start a tag or a directive, or change the direction of the code. */
function printComment(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('*/', '*\\/')
    .replaceAll(/(?<!\w)@/g, '\\@');
}

function printText(value: string): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(/[\p{Bidi_Control}\u2028\u2029]/gu, toEscape);
}

/** Returns the type of a field's values. `Open` also allows the values that the file doesn't know yet. */
function typeOf(type: CustomFieldDefinition['type'], options = ''): string {
  const types: Record<CustomFieldType, string> = {
    TEXT: 'string',
    NUMBER: 'number',
    BOOLEAN: 'boolean',
    DATE: 'string',
    SELECT: `Open<${options}>`,
    MULTI_SELECT: `readonly Open<${options}>[]`,
    USER: 'number',
  };
  return (types as Record<string, string>)[type] ?? 'CustomFieldValue';
}
