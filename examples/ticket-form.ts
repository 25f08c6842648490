import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ItsmClient, isItsmError, type UserReference } from '@itsm-api/client';

/**
 * Serves a request form, and submits it for the signed-in user. Only this program uses the API key, so browsers never
 * receive the key.
 *
 *     ITSM_KEY=itsm_… REQUESTER=jonas.weber@acme.example node examples/ticket-form.ts
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY, FORM = 'laptop', REQUESTER = '', PORT = '4100' } = process.env;
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'ticket-form' });
/** The email addresses of users by session. A portal adds a session when a user signs in. */
const sessions = new Map<string, UserReference>([[randomUUID(), REQUESTER as UserReference]]);

type Page = { status: number; html: string };
type Choices = { const: string; title: string }[];
type Question = { type: string; title: string; format?: string; oneOf?: Choices; items?: { oneOf: Choices } };

const server = createServer(async (request, response) => {
  const id = request.url?.split('/sign-in/')[1];
  if (id !== undefined) {
    const cookie = `session=${encodeURIComponent(id)}; HttpOnly; SameSite=Strict`;
    return response.writeHead(303, { 'set-cookie': cookie, location: '/' }).end();
  }
  const requester = sessions.get(request.headers.cookie?.replace('session=', '') ?? '');
  const page =
    requester === undefined ? { status: 401, html: 'Sign in first.' } : await respondSafely(request, requester);
  response.writeHead(page.status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><title>Request form</title>${page.html}`);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Sign in at http://127.0.0.1:${port}/sign-in/${[...sessions.keys()][0]}`);
});

async function respondSafely(request: IncomingMessage, requester: UserReference): Promise<Page> {
  try {
    return await respond(request, requester);
  } catch (error) {
    console.error(error);
    return { status: 502, html: 'Try again later.' };
  }
}

async function respond(request: IncomingMessage, requesterId: UserReference): Promise<Page> {
  const { name, schema } = await client.requestForms.get(FORM);
  const { properties, required } = schema as { properties: Record<string, Question>; required: string[] };
  const questions = Object.entries(properties);
  const inputs = questions.map(([key, question]) => render(key, question, required.includes(key)));
  const form = `<h1>${escapeHtml(name)}</h1><form method="post">${inputs.join('')}<button>Submit</button></form>`;
  if (request.method !== 'POST') return { status: 200, html: form };
  const sent = new URLSearchParams(await text(request));
  const answered = questions.filter(([key]) => sent.get(key));
  const answers = Object.fromEntries(answered.map(([key, { type }]) => [key, parse(type, sent.getAll(key))]));
  try {
    const ticket = await client.requestForms.submit(FORM, { answers, requesterId });
    return { status: 201, html: `Thank you. Your ticket is ${escapeHtml(ticket.ticketNumber)}.` };
  } catch (error) {
    if (!isItsmError(error, 'VALIDATION_ERROR')) throw error;
    const faults = error.details.map(({ path, message }) => `<li>${escapeHtml(`${path} ${message}`)}</li>`);
    return { status: 400, html: `<ul>${faults.join('')}</ul>${form}` };
  }
}

function render(key: string, { type, title, format, oneOf, items }: Question, isRequired: boolean): string {
  const attributes = `name="${key}"${isRequired ? ' required' : ''}${type === 'array' ? ' multiple' : ''}`;
  const yesOrNo = type === 'boolean' ? ['true', 'false'].map((value) => ({ const: value, title: value })) : undefined;
  const choices = oneOf ?? items?.oneOf ?? yesOrNo;
  const options = choices?.map((each) => `<option value="${escapeHtml(each.const)}">${escapeHtml(each.title)}`) ?? [];
  // Otherwise, browsers would send the first option if a user chooses none.
  if (type !== 'array') options.unshift('<option value="">');
  const inputType = format === 'date' ? 'date' : type === 'string' ? 'text' : 'number';
  const input = choices
    ? `<select ${attributes}>${options.join('')}</select>`
    : `<input ${attributes} type="${inputType}">`;
  return `<p><label>${escapeHtml(title)} ${input}</label></p>`;
}

function parse(type: string, [value = '', ...more]: string[]) {
  if (type === 'array') return [value, ...more];
  return type === 'string' ? value : type === 'boolean' ? value === 'true' : Number(value);
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
