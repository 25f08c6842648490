import { errors, requestLimits } from '@itsm-api/contract';
import type { OpenApi, Operation } from '@itsm-api/contract/openapi';

/** What each error code means and what to do, below an anchor of its name: where `docs` of an error leads. */
export function describeErrors(): string {
  const entries = Object.entries(errors).map(
    ([code, { status, when, remedy }]) => `## ${code}\n\nStatus ${status}. ${when}\n\n**What to do:** ${remedy}`,
  );
  return `# Errors

Programs decide by \`code\`, people read \`message\`. \`details\` names at most ${requestLimits.errorDetails} fields that are
wrong. Report \`requestId\` to whoever runs the service. [The reference](/docs/) says which operation answers which, and
[errors and retries](/docs/guides/errors-and-retries) how a program deals with them.

${entries.join('\n\n')}
`;
}

/** What is delivered to webhooks: the rules, the headers, and each event with its body. */
export function describeEvents({ tags, webhooks = {}, components }: OpenApi): string {
  const rules = tags.find(({ name }) => name === 'events')?.description;
  const headers = Object.entries(components.parameters).filter(([name]) => name.startsWith('Event-'));
  return `# Webhooks and their events

Subscribe a URL with \`POST /webhooks\`, and each event of its kind is sent there.
[Verifying webhooks](/docs/guides/verifying-webhooks) shows a receiver, [managing webhooks](/docs/guides/managing-webhooks)
how one is tested and mended.

## Deliveries

${rules}

## Headers

${headers.map(([, { name, description }]) => `- \`${name}\`: ${description}`).join('\n')}

${Object.entries(webhooks)
  .map(([type, { post }]) => describeEvent(type, post))
  .join('\n\n')}
`;
}

function describeEvent(type: string, { summary, description, requestBody }: Operation): string {
  const example = requestBody?.content['application/json'].examples.example;
  const body = example && 'value' in example ? example.value : undefined;
  return `## ${type}\n\n${summary}. ${description}\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``;
}

/** All that can be asked, in short: the reference for those who read Markdown. Schemas stand in the document. */
export function describeReference(document: OpenApi): string {
  return `# Reference of the ITSM Public API

The whole document, with every field: [OpenAPI 3.1](/openapi.json), the same as [YAML](/openapi.yaml), and
[3.0](/openapi-3.0.json).

${document.info.description?.replace(/^#/gm, '##')}

${operationsOf(document)
  .map(({ method, path, operation }) => `## ${method} ${path}\n\n${operation.summary}.\n\n${operation.description}`)
  .join('\n\n')}
`;
}

interface DocumentedOperation {
  method: string;
  path: string;
  operation: Operation;
}

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: OpenApi): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
