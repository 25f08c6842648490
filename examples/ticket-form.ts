import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ItsmClient, isItsmError, type TicketCategory } from '@itsm-api/client';

/**
 * Serves a web form that creates tickets. Only this program uses the API key, so browsers never receive the key.
 *
 *     ITSM_KEY=itsm_… node examples/ticket-form.ts
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY, PORT = '4100' } = process.env;
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'ticket-form' });

const form = `<form method="post">
  <p><label>Title <input name="title" size="60"></label></p>
  <p><label>Description <textarea name="description" cols="60" rows="5"></textarea></label></p>
  <p><label>Category <select name="category">
    <option>HARDWARE<option>SOFTWARE<option>NETWORK<option>ACCESS<option>EMAIL<option>OTHER
  </select></label></p>
  <button>Create ticket</button>
</form>`;

const server = createServer(async (request, response) => {
  const { status, html } = request.method === 'POST' ? await submit(request) : { status: 200, html: form };
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><title>Report a problem</title>${html}`);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Open the form at http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

async function submit(request: IncomingMessage): Promise<{ status: number; html: string }> {
  const fields = new URLSearchParams(await text(request));
  try {
    const ticket = await client.tickets.create({
      title: fields.get('title') ?? '',
      description: fields.get('description') ?? '',
      type: 'INCIDENT',
      // The type assertion is safe, because the API validates every field.
      category: fields.get('category') as TicketCategory,
    });
    return { status: 201, html: `<p>Thank you. Your ticket is ${escapeHtml(ticket.ticketNumber)}.</p>` };
  } catch (error) {
    if (isItsmError(error, 'VALIDATION_ERROR')) {
      const errors = error.details.map(({ path, message }) => `<li>${escapeHtml(`${path} ${message}`)}</li>`);
      return { status: 400, html: `<ul>${errors.join('')}</ul>${form}` };
    }
    console.error(error);
    return { status: 502, html: `<p>The ticket was not created. Try again later.</p>${form}` };
  }
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
