import { pathPrefix, type RequestFormDetail } from '@itsm-api/contract';
import { type ExternalCheck, load, type Product, toResult, versionReader } from '../external-check.ts';

/** Values of which each question accepts some, whatever its type is. */
const candidates = ['Berlin', 'home office', 'elsewhere', '', 12, 0.5, true, null, ['Berlin'], '2026-11-20'];

/** @rjsf/core, which renders forms from a JSON Schema and validates the answers with ajv. */
export const rjsf: ExternalCheck = {
  name: '@rjsf/core',
  about: 'The request forms. A check is a question that it renders, or answers that it and the server must accept.',
  version: versionReader('@rjsf/core'),
  async run(product) {
    const { data: forms } = await send<RequestFormDetail[]>(product, 'GET', '/request-forms');
    const found = [];
    for (const { key } of forms) {
      const form = (await send<RequestFormDetail>(product, 'GET', `/request-forms/${key}`)).data;
      found.push(...render(form), ...(await compare(product, form)));
    }
    const findings = found.flatMap(({ rule, message }) => (message === undefined ? [] : [{ rule, message }]));
    return toResult(found.length, findings);
  },
};

interface Check {
  rule: string;
  /** What is wrong, or undefined if nothing is. */
  message: string | undefined;
}

interface AnswerSchema {
  properties: Record<string, { title: string; oneOf?: { title: string }[] }>;
}

function validator() {
  const AjvClass = load('ajv/dist/2020').default;
  return load('@rjsf/validator-ajv8').customizeValidator({ AjvClass });
}

/** Checks that the page of a form shows the title of each question and the label of each option. */
function render({ key, schema }: RequestFormDetail): Check[] {
  const { createElement } = load('react');
  const form = createElement(load('@rjsf/core').default, { schema, validator: validator() });
  const html: string = load('react-dom/server').renderToStaticMarkup(form);
  return Object.entries((schema as unknown as AnswerSchema).properties).map(([name, { title, oneOf = [] }]) => {
    const missing = [`id="root_${name}"`, title, ...oneOf.map((option) => option.title)].filter(
      (text) => !html.includes(text),
    );
    return { rule: 'render', message: missing.length > 0 ? `${key} lacks ${missing.join(', ')}` : undefined };
  });
}

/** Submits a form with several answers, and checks that the tool accepts those that the server accepts. */
async function compare(product: Product, { key, schema }: RequestFormDetail): Promise<Check[]> {
  const { properties } = schema as unknown as AnswerSchema;
  const names = Object.keys(properties);
  // One complete set of answers, and sets in which one question has another answer or none.
  const complete = Object.fromEntries(names.map((name) => [name, properties[name]?.oneOf ? 'Berlin' : 12]));
  const others = names.flatMap((name) => [
    without(complete, name),
    ...candidates.map((value) => ({ ...complete, [name]: value })),
  ]);
  const checks: Check[] = [];
  for (const answers of [{}, complete, { ...complete, unknown: 'x' }, ...others]) {
    const { status } = await send(product, 'POST', `/request-forms/${key}/tickets`, { answers });
    const { errors } = validator().validateFormData(answers, schema);
    const isAccepted = errors.length === 0;
    const text = `${key} ${JSON.stringify(answers)}: ${status}, ${errors[0]?.stack ?? 'accepted'}`;
    checks.push({ rule: 'answers', message: (status === 201) === isAccepted ? undefined : text });
  }
  return checks;
}

function without<Value>(values: Record<string, Value>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}

async function send<Data>(
  { origin, key }: Product,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; data: Data }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(origin + pathPrefix + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, data: ((await response.json()) as { data: Data }).data };
}
