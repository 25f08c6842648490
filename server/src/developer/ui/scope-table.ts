import { type Endpoint, pathPrefix, Scope, scopeResources, scopes } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import type { FormState } from '../framework/page.ts';
import { checkbox, renderError, renderHint } from './form-fields.ts';
import { html, type SafeHtml } from './html.ts';

/**
 * An endpoint that a scope allows. For example, the method is `GET`, the path is `/tickets/{id}`, and the summary is
 * `Get a ticket`.
 */
interface AllowedEndpoint {
  method: string;
  path: string;
  summary: string;
}

const endpoints = Object.values(contract).flatMap((routes) => Object.values(routes as Record<string, Endpoint>));

/** Returns the endpoints that a scope allows. For `any`, returns the endpoints that every API key can call. */
export function listEndpoints(scope: Scope | 'any'): AllowedEndpoint[] {
  return endpoints
    .filter(({ metadata }) => metadata.scope === scope)
    .map(({ method, path, summary }) => {
      return { method, path: path.slice(pathPrefix.length).replace(/:(\w+)/g, '{$1}'), summary };
    });
}

/**
 * Renders a table with one row per resource and a checkbox for each scope.
 * @param offered the scopes that the user can select
 * @param chosen the scopes that are selected initially
 */
export function scopeTable(
  sent: FormState | undefined,
  {
    label,
    hint,
    offered,
    chosen,
  }: { label: string; hint?: string; offered: readonly Scope[]; chosen: readonly Scope[] },
): SafeHtml {
  sent?.labels?.set('scopes', label);
  const checked: readonly string[] = sent === undefined ? chosen : (sent.values.scopes ?? []);
  const box = (scope: Scope) =>
    offered.includes(scope) ? checkbox('scopes', scope, html`<code>${scope}</code>`, checked.includes(scope)) : null;
  const cells = (resource: string) => {
    const findScope = (access: string) => Scope.options.find((scope) => scope === `${resource}:${access}`);
    const manage = findScope('manage');
    if (manage !== undefined) return html`<td colspan="2">${box(manage)}</td>`;
    return ['read', 'write'].map((access) => {
      const scope = findScope(access);
      return html`<td>${scope === undefined ? null : box(scope)}</td>`;
    });
  };
  const isOffered = ([resource]: [string, string]) => offered.some((scope) => scope.startsWith(`${resource}:`));
  const rows = Object.entries(scopeResources).filter(isOffered);
  return html`<fieldset id="field-scopes" class="scopes"><legend>${label}</legend>${renderHint('scopes', hint)}${renderError(sent, 'scopes')}
<table>
<thead><tr><th scope="col">Resource</th><th scope="col">Read</th><th scope="col">Write</th></tr></thead>
<tbody>${rows.map(([resource, name]) => html`<tr><th scope="row">${name}</th>${cells(resource)}</tr>`)}</tbody>
</table></fieldset>`;
}

/**
 * Renders the endpoints that each scope allows. If scripts are enabled, script.js shows only the endpoints of the
 * selected scopes.
 */
export function allowedEndpoints(offered: readonly Scope[]): SafeHtml {
  const groups = offered.map(
    (scope) => html`<div data-scope="${scope}"><h3><code>${scope}</code></h3>
<p class="hint">${scopes[scope]}</p>${renderEndpoints(listEndpoints(scope))}</div>`,
  );
  return html`<section class="allowed" aria-labelledby="allowed" data-allowed="field-scopes">
<h2 id="allowed">Endpoints of the scopes</h2>
<p role="status">Each scope allows the endpoints below it. Every API key can call <code>GET /me</code>.</p>
${groups}</section>`;
}

function renderEndpoints(allowed: readonly AllowedEndpoint[]): SafeHtml {
  if (allowed.length === 0) return html``;
  const items = allowed.map(
    ({ method, path, summary }) => html`<li><code>${method} ${path}</code> <span>${summary}</span></li>`,
  );
  return html`<ul>${items}</ul>`;
}
