import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import type { Answer, Api } from './api.ts';

/** The fields of a form. A list contains the values of fields with the same name. */
export type Fields = Record<string, string | number | readonly (string | number)[]>;

/** A simulated browser that keeps cookies and submits forms, but runs no scripts. */
export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Submits a form of a page, by default with the CSRF token of the page. Returns the response, usually a redirect. */
  submit(path: string, form: string, fields?: Fields, token?: string): Promise<Answer>;
  /** Submits a form, follows the redirect and returns the page. */
  submitAndFollow(path: string, form: string, fields?: Fields): Promise<Answer>;
  /** Returns the CSRF token of a page. */
  tokenOf(path: string): Promise<string>;
  /** Sends a POST request with the given body, the cookies, and the Origin header of the developer area. */
  post(path: string, body: string | Buffer, headers: Record<string, string>): Promise<Answer>;
  readonly cookies: Map<string, string>;
}

export const areaOrigin = 'http://localhost';

export function openBrowser(api: Pick<Api, 'call'>): Visitor {
  const cookies = new Map<string, string>();
  const call = async (method: string, path: string, headers: Record<string, string>, body?: string | Buffer) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await api.call({ method, path, headers: { ...(cookie && { cookie }), ...headers }, body });
    for (const each of [response.headers['set-cookie'] ?? []].flat() as string[]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  const visitor: Visitor = {
    cookies,
    get: (path, headers = {}) => call('GET', path, headers),
    async tokenOf(path) {
      const { text } = await visitor.get(path);
      const token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1];
      if (token === undefined) throw new Error(`${path} has no form:\n${text}`);
      return token;
    },
    post: (path, body, headers) => call('POST', path, { origin: areaOrigin, ...headers }, body),
    async submit(path, form, fields = {}, token) {
      const body = new URLSearchParams({ _csrf: token ?? (await visitor.tokenOf(path)) });
      for (const [name, value] of Object.entries(fields)) {
        for (const each of [value].flat()) body.append(name, String(each));
      }
      const action = `${path}${path.includes('?') ? '&' : '?'}form=${form}`;
      return visitor.post(action, body.toString(), { 'content-type': 'application/x-www-form-urlencoded' });
    },
    async submitAndFollow(path, form, fields) {
      const response = await visitor.submit(path, form, fields);
      if (response.status !== 303) throw new Error(`${form} of ${path} returned ${response.status}:\n${response.text}`);
      return visitor.get(response.headers.location as string);
    },
  };
  return visitor;
}

/** Creates an invitation link for a user, and signs in with it. Returns the simulated browser. */
export async function signIn(
  api: Pick<Api, 'call' | 'databases'>,
  { tenantId, userId }: { tenantId: TenantId; userId: number | bigint },
): Promise<Visitor> {
  const visitor = openBrowser(api);
  const db = tenantClient(api.databases.system, tenantId);
  const token = await createInvitation({ db }, userId, { demo: true });
  const response = await visitor.submit(`/developer/join?token=${token}`, 'skip');
  if (response.status !== 303) throw new Error(`Signing in returned ${response.status}:\n${response.text}`);
  return visitor;
}

/** Returns the value of the hidden field `etag` in the form of a page. */
export async function etagOf(visitor: Visitor, path: string): Promise<string> {
  const { text } = await visitor.get(path);
  return /name="etag" value="([^"]*)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';
}

/** Uploads a file to a page, as a browser does (RFC 7578). */
export async function upload(
  visitor: Visitor,
  path: string,
  file: string | Buffer,
  { name = 'a.csv', form = 'upload', fields = {} }: { name?: string; form?: string; fields?: object } = {},
): Promise<Answer> {
  const boundary = 'a1b2c3';
  const part = (head: string, content: string | Buffer) =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  const body = Buffer.concat([
    part('name="_csrf"', await visitor.tokenOf(path)),
    ...Object.entries(fields).map(([field, value]) => part(`name="${field}"`, value)),
    part(`name="file"; filename="${name}"\r\nContent-Type: text/csv`, file),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return visitor.post(`${path}?form=${form}`, body, { 'content-type': `multipart/form-data; boundary=${boundary}` });
}

/** Uploads a CSV file. Returns the page with the preview or with the errors in the file. */
export async function preview(
  visitor: Visitor,
  path: string,
  file: string | Buffer,
  fields?: Record<string, string>,
): Promise<string> {
  const sent = await upload(visitor, path, file, { fields });
  if (sent.status === 200) return sent.text;
  if (sent.status !== 303) throw new Error(`Sending a file to ${path} returned ${sent.status}:\n${sent.text}`);
  return (await visitor.get(sent.headers.location as string)).text;
}
