import type { Endpoint } from '../endpoint.ts';
import { pathPrefix } from '../index.ts';
import { exampleBody, exampleCall, exampleQuery } from './calls.ts';
import { jsonLiteral } from './literal.ts';
import { exampleIdOf } from './parameters.ts';
import type { CodeSample } from './types.ts';

/** What the client is installed by; the contract itself knows nothing of it. */
const clientPackage = '@itsm-api/client';

/** How many characters a value may have on one line, where samples are shown: beside the words. */
const width = 48;

/**
 * How an operation is called with its example, as a reader pastes it: with the client, then with curl. Both take the
 * address and the key from `ITSM_URL` and `ITSM_KEY`, as the guides do.
 */
export function codeSamples(resource: string, name: string, route: Endpoint): CodeSample[] {
  return [
    { lang: 'typescript', label: 'Client', source: clientSample(resource, name, route) },
    { lang: 'shell', label: 'curl', source: curlSample(resource, name, route) },
  ];
}

function clientSample(resource: string, name: string, route: Endpoint): string {
  const { source, variable, isWalked } = exampleCall({ resource, name, route }, width);
  const said = variable.startsWith('{') ? variable.slice(2, -2) : variable;
  const call = isWalked
    ? `for await (const ${variable} of ${source}) {\n  console.log(${said});\n}`
    : `const ${variable} = await ${source};\nconsole.log(${said});`;
  return `import { ItsmClient } from '${clientPackage}';

const client = new ItsmClient({
  baseUrl: process.env.ITSM_URL ?? 'http://127.0.0.1:3000',
  apiKey: process.env.ITSM_KEY,
});

${call}`;
}

function curlSample(resource: string, name: string, route: Endpoint): string {
  const path = route.path
    .slice(pathPrefix.length)
    .replace(/:(\w+)/g, (_, param) => String(exampleIdOf(route.path, param)));
  const query = new URLSearchParams(exampleQuery(route)).toString().replaceAll('%3A', ':');
  const body = exampleBody(route);
  const isImplied = route.method === 'GET' || (route.method === 'POST' && body !== undefined);
  const parts = [
    `curl ${isImplied ? '' : `-X ${route.method} `}"$ITSM_URL${pathPrefix}${path}${query && `?${query}`}"`,
    ...(route.metadata.scope === null ? [] : ['-H "Authorization: Bearer $ITSM_KEY"']),
    // Of its own at each pasting; a program keeps it for when it has to ask again.
    ...(route.method === 'POST' ? [`-H "Idempotency-Key: ${resource}-${name}-$(date +%s)"`] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(jsonLiteral(body, width).replaceAll('\n', '\n  '))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
