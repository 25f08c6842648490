import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EncryptJWT, jwtDecrypt } from 'jose';

/** An encrypted cookie. Handlers read and change its data in a property of the request. */
export interface EncryptedCookie {
  property: 'session' | 'device';
  name: string;
  /** How many seconds the data is valid after its last change. */
  validSeconds: number;
  options: CookieSerializeOptions;
}

interface Options {
  cookies: readonly EncryptedCookie[];
  /** 32-byte keys. The first key encrypts, and every key can decrypt. */
  keys: readonly Uint8Array[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The data of each cookie that the browser already has, as JSON. */
    receivedCookies: Map<EncryptedCookie, string>;
  }
}

/**
 * Registers cookies that contain encrypted JSON Web Tokens (RFC 7516, RFC 7519). If a cookie is missing, expired or
 * invalid, its data is an empty object. If a handler changes the data, the response sets the cookie.
 */
export async function addEncryptedCookies(scope: FastifyInstance, { cookies, keys }: Options): Promise<void> {
  const newestKey = keys[0];
  if (newestKey === undefined) throw new Error('Encrypted cookies need at least one key.');

  /** Decrypts the data of a cookie. Returns undefined if the cookie is invalid or expired. */
  const decrypt = async (cookie: EncryptedCookie, token: string) => {
    for (const key of keys) {
      const options = { ...algorithms, audience: cookie.name };
      const jwt = await jwtDecrypt<{ data: object }>(token, key, options).catch(() => undefined);
      if (jwt !== undefined) return { data: jwt.payload.data, isNewestKey: key === newestKey };
    }
    return undefined;
  };

  const encrypt = (cookie: EncryptedCookie, data: object) =>
    new EncryptJWT({ data })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setAudience(cookie.name)
      .setExpirationTime(`${cookie.validSeconds} s`)
      .encrypt(newestKey);

  const receive = async (request: FastifyRequest, cookie: EncryptedCookie) => {
    const token = request.cookies[cookie.name];
    const found = token === undefined ? undefined : await decrypt(cookie, token);
    request[cookie.property] = found?.data ?? {};
    // The empty text makes the response set the cookie again, with the newest key.
    if (found !== undefined) request.receivedCookies.set(cookie, found.isNewestKey ? JSON.stringify(found.data) : '');
  };

  const send = async (request: FastifyRequest, reply: FastifyReply, cookie: EncryptedCookie) => {
    const data = JSON.stringify(request[cookie.property]);
    if (data === (request.receivedCookies.get(cookie) ?? '{}')) return;
    if (data === '{}') reply.clearCookie(cookie.name, cookie.options);
    else reply.setCookie(cookie.name, await encrypt(cookie, request[cookie.property]), cookie.options);
  };

  await scope.register(fastifyCookie);
  for (const { property } of cookies) scope.decorateRequest(property);
  scope.decorateRequest('receivedCookies');
  scope.addHook('onRequest', async (request) => {
    request.receivedCookies = new Map();
    await Promise.all(cookies.map((cookie) => receive(request, cookie)));
  });
  scope.addHook('onSend', async (request, reply) => {
    // Fastify rejects malformed paths before the hook `onRequest` runs.
    if (request.receivedCookies === undefined) return;
    await Promise.all(cookies.map((cookie) => send(request, reply, cookie)));
  });
}

const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
