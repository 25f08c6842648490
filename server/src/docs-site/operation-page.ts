import { errorDocsPath } from '@itsm-api/contract';
import type { OpenApi, Operation, Schema } from '@itsm-api/contract/openapi';
import { operationsOf } from './contract-pages.ts';

type Parameter = OpenApi['components']['parameters'][string];
type Response = OpenApi['components']['responses'][string];

/** Returns the Markdown of the page about an operation: its description, parameters, bodies, errors and samples. */
export function describeOperation(document: OpenApi, operationId: string): string {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`The OpenAPI document has no operation ${operationId}.`);
  const { method, path, operation } = found;
  const [tag = ''] = operation.tags;
  const responses = Object.entries(operation.responses).map(([status, response]) => ({
    status,
    response: resolve<Response>(document, response),
  }));
  const isError = ({ status }: { status: string }) => Number(status) >= 400;
  return [
    `# ${operation.summary}`,
    `\`${method} ${path}\``,
    operation.description ?? '',
    `[Try it in the interactive reference](/docs/#tag/${tag}/${method}${path}).`,
    samplesOf(operation),
    parametersOf(document, operation),
    requestBodyOf(document, operation),
    ...responses.filter((each) => !isError(each)).map((each) => responseOf(document, each)),
    errorsOf(document, responses.filter(isError)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The names of the languages of samples: in code blocks, and in tabs. */
const languages: Record<string, [code: string, tab: string]> = {
  shell: ['sh', 'curl'],
  typescript: ['ts', 'TypeScript'],
  python: ['python', 'Python'],
};

/** Renders the code samples as tabs. The captions of the tabs start with `tab:`. */
function samplesOf({ 'x-codeSamples': samples = [] }: Operation): string {
  const blocks = samples.map(({ lang, label, source }) => {
    const [code, tab] = languages[lang] ?? [lang, label];
    return codeBlock(source, `${code} tab:${tab}`);
  });
  return blocks.length === 0 ? '' : `## Example\n\n${blocks.join('\n\n')}`;
}

function parametersOf(document: OpenApi, { parameters = [] }: Operation): string {
  const rows = parameters.map((each) => {
    const { name, in: place, required, description = '', schema } = resolve<Parameter>(document, each);
    return [`\`${name}\``, required ? `${place}, required` : place, typeOf(schema), description];
  });
  return rows.length === 0 ? '' : `## Parameters\n\n${table(['Name', 'In', 'Type', 'Description'], rows)}`;
}

function requestBodyOf(document: OpenApi, { requestBody }: Operation): string {
  if (requestBody === undefined) return '';
  const content = requestBody.content['application/json'];
  if (content === undefined) return `## Request body\n\n${requestBody.description}`;
  return `## Request body\n\n${fieldsOf(document, content.schema)}`;
}

function responseOf(document: OpenApi, { status, response }: { status: string; response: Response }): string {
  const { description, content } = response;
  const json = content?.['application/json'];
  const data = json && dataOf(document, json.schema);
  const [example] = Object.values(json?.examples ?? {}).map((each) => resolve<{ value?: unknown }>(document, each));
  return [
    `## Response ${status}`,
    description,
    data === undefined ? '' : fieldsOf(document, data),
    example?.value === undefined ? '' : codeBlock(JSON.stringify(example.value, null, 2), 'json Response'),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function errorsOf(document: OpenApi, responses: { status: string; response: Response }[]): string {
  const rows = responses.map(({ status, response }) => {
    const codes = Object.values(response.content?.['application/json']?.examples ?? {}).map(
      (each) => resolve<{ value?: { error?: { code?: string } } }>(document, each).value?.error?.code,
    );
    const links = [...new Set(codes)].filter(Boolean).map((code) => `[\`${code}\`](${errorDocsPath}#${code})`);
    return [status, links.join(', '), response.description];
  });
  return rows.length === 0 ? '' : `## Errors\n\n${table(['Status', 'Codes', 'Description'], rows)}`;
}

/** Returns the schema of `data` in an envelope. The items of a list are the data. */
function dataOf(document: OpenApi, envelope: Schema): Schema | undefined {
  const { properties } = resolve<Schema>(document, envelope) as { properties?: Record<string, Schema> };
  const data = properties?.data && resolve<Schema>(document, properties.data);
  return data?.type === 'array' ? resolve<Schema>(document, data.items as Schema) : data;
}

function fieldsOf(document: OpenApi, schema: Schema): string {
  const { properties = {}, required = [] } = resolve<Schema>(document, schema) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, property]) => {
    const { description = '' } = { ...resolve<Schema>(document, property), ...property } as { description?: string };
    return [`\`${name}\``, `${typeOf(property)}${required.includes(name) ? ', required' : ''}`, description];
  });
  return rows.length === 0 ? '' : table(['Field', 'Type', 'Description'], rows);
}

/** Returns the type of a schema in words, such as `TicketStatus`, `array of integer` or `string or null`. */
function typeOf({ $ref, type, items, anyOf, oneOf, enum: values, const: value }: Schema): string {
  if (typeof $ref === 'string') return nameIn($ref);
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(' or ');
  const variants = (anyOf ?? oneOf) as Schema[] | undefined;
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].join(' or ');
  if (type === 'array' && items !== undefined) return `array of ${typeOf(items as Schema)}`;
  return [type ?? 'any'].flat().join(' or ');
}

/** Returns an object of the document, which can be a reference to a component. */
function resolve<Value extends object>({ components }: OpenApi, value: object): Value {
  if (!('$ref' in value)) return value as Value;
  const [section = '', name = ''] = String(value.$ref).split('/').slice(-2);
  return (components as unknown as Record<string, Record<string, Value>>)[section]?.[name] as Value;
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function codeBlock(code: string, info: string): string {
  return `\`\`\`${info}\n${code.trimEnd()}\n\`\`\``;
}
