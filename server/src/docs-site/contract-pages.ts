import { errors, requestLimits } from '@itsm-api/contract';
import type { OpenApi, Operation } from '@itsm-api/contract/openapi';

/**
 * Returns the Markdown of the page that lists the error codes. The `docs` URL of an error links to the section about
 * its code.
 */
export function describeErrors(): string {
  const entries = Object.entries(errors).map(
    ([code, { status, when, remedy }]) => `## ${code}\n\nStatus ${status}. ${when}\n\n**What to do:** ${remedy}`,
  );
  return `# Errors

Use \`code\` in programs, and show \`message\` to people. \`details\` lists up to ${requestLimits.errorDetails} invalid fields.
To see the failed request, look up its \`requestId\` in the request log at \`/developer/requests\`. If you report an error
to the operator of the server, include its \`requestId\`.

[Handle errors](/docs/guides/handle-errors) shows how to retry. [The reference](/docs/) lists the errors of each operation.

${entries.join('\n\n')}
`;
}

/** Returns the Markdown of the page about webhook events: the delivery rules, the headers and the event bodies. */
export function describeEvents({ tags, webhooks = {}, components }: OpenApi): string {
  const rules = tags.find(({ name }) => name === 'events')?.description;
  const headers = Object.entries(components.parameters).filter(([name]) => name.startsWith('Event-'));
  return `# Webhook events

Subscribe a URL to event types with \`POST /webhooks\`. The server then delivers each event of these types to the URL.
[Verify signatures](/docs/guides/verify-signatures) shows the code of a receiver. [Manage webhooks](/docs/guides/manage-webhooks) describes
tests, pauses and replays.

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
  const example = requestBody?.content['application/json']?.examples.example;
  const body = example && 'value' in example ? example.value : undefined;
  return `## ${type}\n\n${summary}. ${description} [JSON Schema](/schemas/${type}.json).\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``;
}

/** Returns the Markdown of the API reference, which lists all operations without their schemas. */
export function describeReference(document: OpenApi): string {
  return `# Reference of the ITSM Public API

[All operations](/docs/reference) have a page each. The OpenAPI document lists all fields: [OpenAPI 3.1](/openapi.json),
also as [YAML](/openapi.yaml), and [OpenAPI 3.0](/openapi-3.0.json). Generators create clients in Java, C#, Go and other
languages from it.

${document.info.description?.replace(/^#/gm, '##')}
`;
}

/** Returns the Markdown of the page that lists all operations, by resource. */
export function describeOperations(document: OpenApi): string {
  const operations = operationsOf(document);
  const sections = document.tags.map(({ name, description }) => {
    const rows = operations.filter(({ operation }) => operation.tags.includes(name));
    if (rows.length === 0) return '';
    const lines = rows.map(({ method, path, operation: { operationId, summary } }) => {
      return `| [${summary}](${operationPath(operationId)}) | \`${method} ${path}\` |`;
    });
    return `## ${name}\n\n${description}\n\n| Operation | Request |\n| --- | --- |\n${lines.join('\n')}\n\n`;
  });
  return `# All operations

Each operation has a page with its parameters, fields, errors and samples. [The interactive reference](/docs/) sends
requests from the browser.

${sections.join('')}`;
}

/** Returns the path of the page about an operation. */
export function operationPath(operationId: string): string {
  return `/docs/reference/${operationId}`;
}

interface DocumentedOperation {
  method: string;
  path: string;
  operation: Operation;
}

/** Returns all operations of an OpenAPI document, in document order. */
export function operationsOf({ paths }: OpenApi): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
