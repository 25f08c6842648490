import { errorDocsPath, errors, requestLimits } from '@itsm-api/contract';
import type { FastifyInstance } from 'fastify';

/** The page to which `docs` of an error leads: each code with what it means and what to do, below an anchor of its name. */
export function addErrorDocs(app: FastifyInstance): void {
  app.get(errorDocsPath, (_request, reply) => {
    reply.headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' });
    return reply.type('text/html; charset=utf-8').send(page);
  });
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const entries = Object.entries(errors).map(
  ([code, { status, when, remedy }]) => `<section id="${code}">
<h2><a href="#${code}">${code}</a></h2>
<p>Status ${status}. ${inHtml(when)}</p>
<p><strong>What to do:</strong> ${inHtml(remedy)}</p>
</section>`,
);

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Errors of the ITSM Public API</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.1rem; margin-top: 2rem }
:target { border-inline-start: 0.25rem solid #2563eb; padding-inline-start: 1rem }
</style>
</head>
<body>
<h1>Errors</h1>
<p>Programs decide by <code>code</code>, people read <code>message</code>. <code>details</code> names at most
${requestLimits.errorDetails} fields that are wrong. Report <code>requestId</code> to whoever runs the service.
<a href="/docs">The reference</a> says which operation answers which.</p>
${entries.join('\n')}
</body>
</html>
`;

/** The words of the contract, which hold code between back quotes and nothing that HTML would take for its own. */
function inHtml(words: string): string {
  return words.replace(/`([^`]+)`/g, '<code>$1</code>');
}
