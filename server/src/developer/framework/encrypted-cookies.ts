import { Readable } from 'node:stream';
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';

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

interface ReceivedCookie {
  /** The data, to detect whether a handler changes it. */
  json: string;
  /** Whether the cookie was encrypted with the newest key. */
  isNewestKey: boolean;
}

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const;

declare module 'fastify' {
  interface FastifyRequest {
    /** The valid cookies of the request. Undefined if Fastify rejected the path before it called any hook. */
    receivedCookies: Map<EncryptedCookie, ReceivedCookie> | undefined;
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
    const options = {
      keyManagementAlgorithms: [algorithms.alg],
      contentEncryptionAlgorithms: [algorithms.enc],
      audience: cookie.name,
    };
    for (const key of keys) {
      const jwt = await jwtDecrypt<{ data: object }>(token, key, options).catch((error: unknown) => {
        if (!(error instanceof errors.JOSEError)) throw error;
      });
      if (jwt !== undefined) return { data: jwt.payload.data, isNewestKey: key === newestKey };
    }
    return undefined;
  };

  const encrypt = (cookie: EncryptedCookie, data: object) =>
    new EncryptJWT({ data })
      .setProtectedHeader(algorithms)
      .setAudience(cookie.name)
      .setExpirationTime(`${cookie.validSeconds} s`)
      .encrypt(newestKey);

  const receive = async (
    request: FastifyRequest,
    cookie: EncryptedCookie,
    received: Map<EncryptedCookie, ReceivedCookie>,
  ) => {
    const token = request.cookies[cookie.name];
    const found = token === undefined ? undefined : await decrypt(cookie, token);
    request[cookie.property] = found?.data ?? {};
    if (found !== undefined) received.set(cookie, { json: JSON.stringify(found.data), isNewestKey: found.isNewestKey });
  };

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    cookie: EncryptedCookie,
    received?: ReceivedCookie,
  ) => {
    const data = request[cookie.property];
    const json = JSON.stringify(data);
    if (json === (received?.json ?? '{}') && received?.isNewestKey !== false) return;
    if (json === '{}') reply.clearCookie(cookie.name, cookie.options);
    else reply.setCookie(cookie.name, await encrypt(cookie, data), cookie.options);
  };

  await scope.register(fastifyCookie);
  for (const { property } of cookies) scope.decorateRequest(property);
  scope.decorateRequest('receivedCookies');
  scope.addHook('onRequest', async (request) => {
    const received = new Map<EncryptedCookie, ReceivedCookie>();
    await Promise.all(cookies.map((cookie) => receive(request, cookie, received)));
    request.receivedCookies = received;
  });
  scope.addHook('onSend', async (request, reply, payload) => {
    const { receivedCookies: received } = request;
    // Fastify listens for the errors of a stream only after this hook, so the hook must not wait. No download changes
    // the data of a cookie.
    if (received === undefined || payload instanceof Readable) return;
    await Promise.all(cookies.map((cookie) => send(request, reply, cookie, received.get(cookie))));
  });
}
