import { type Endpoint, pathPrefix } from '../endpoint.ts';
import { exampleBody, exampleCall, exampleIdOf, exampleQuery, pythonExampleCall } from './calls.ts';
import { jsonLiteral } from './literal.ts';
import type { CodeSample } from './types.ts';

/** The npm package of the client, which the samples import. */
const clientPackage = '@itsm-api/client';

/** The maximum number of characters in a value that is on one line. Longer lines don't fit on the reference page. */
const width = 48;

/**
 * Returns the code samples for an operation: with the clients for TypeScript and Python, and with curl. The samples read
 * the server URL and the API key from the environment variables `ITSM_URL` and `ITSM_KEY`.
 */
export function codeSamples(resource: string, name: string, route: Endpoint): CodeSample[] {
  return [
    { lang: 'typescript', label: 'TypeScript', source: clientSample(resource, name, route) },
    { lang: 'python', label: 'Python', source: pythonSample(resource, name, route) },
    { lang: 'shell', label: 'curl', source: curlSample(resource, name, route) },
  ];
}

function clientSample(resource: string, name: string, route: Endpoint): string {
  const { source, variable, isWalked } = exampleCall({ resource, name, route }, width);
  const printed = variable.startsWith('{') ? variable.slice(2, -2) : variable;
  const call = isWalked
    ? `for await (const ${variable} of ${source}) {\n  console.log(${printed});\n}`
    : `const ${variable} = await ${source};\nconsole.log(${printed});`;
  return `import { ItsmClient } from '${clientPackage}';

const client = new ItsmClient({
  baseUrl: process.env.ITSM_URL ?? 'http://127.0.0.1:3000',
  apiKey: process.env.ITSM_KEY,
});

${call}`;
}

function pythonSample(resource: string, name: string, route: Endpoint): string {
  const { source, variable, isWalked } = pythonExampleCall({ resource, name, route }, width);
  const call = isWalked
    ? `for ${variable} in ${source}:\n    print(${variable})`
    : `${variable} = ${source}\nprint(${variable})`;
  return `import os
from itsm_api import ItsmClient

client = ItsmClient(
    os.environ.get("ITSM_URL", "http://127.0.0.1:3000"),
    api_key=os.environ["ITSM_KEY"],
)

${call}`;
}

function curlSample(resource: string, name: string, route: Endpoint): string {
  const path = route.path
    .slice(pathPrefix.length)
    .replace(/:(\w+)/g, (_, param) => String(exampleIdOf(route.path, param)));
  const query = new URLSearchParams(exampleQuery(route)).toString().replaceAll('%3A', ':');
  const body = exampleBody(route);
  const isUpload = route.metadata.binary === 'request';
  const isImplied = route.method === 'GET' || (route.method === 'POST' && (body !== undefined || isUpload));
  const parts = [
    `curl ${isImplied ? '' : `-X ${route.method} `}"$ITSM_URL${pathPrefix}${path}${query && `?${query}`}"`,
    ...(route.metadata.scope === null ? [] : ['-H "Authorization: Bearer $ITSM_KEY"']),
    // Each run of the sample uses a new idempotency key. But if a program retries a request, it must reuse the key.
    ...(route.method === 'POST' ? [`-H "Idempotency-Key: ${resource}-${name}-$(date +%s)"`] : []),
    ...(isUpload ? ["-H 'Content-Type: text/plain'", `--data-binary 'Connection lost.'`] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(jsonLiteral(body, width).replaceAll('\n', '\n  '))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** Quotes a text as a single shell argument. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
