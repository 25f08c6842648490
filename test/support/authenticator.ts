import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A virtual authenticator for passkeys, like a security key (WebAuthn §6). */
export interface Authenticator {
  /**
   * Registers a passkey with the options in an HTML page. Returns the JSON result of `navigator.credentials.create`.
   */
  create(page: string, signing?: Signing): string;
  /** Signs in with the options in an HTML page. Returns the JSON result of `navigator.credentials.get`. */
  get(page: string, signing?: Signing): string;
}

interface Signing {
  /** The origin of the page. */
  origin?: string;
  /** True if the authenticator verifies the user, for example with a PIN. True by default. */
  verifies?: boolean;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: string | Buffer) => Buffer.from(data).toString('base64url');

/** Parses the passkey options in an HTML page. */
function optionsOf(page: string) {
  const [, escaped = ''] = /data-options="([^"]*)"/.exec(page) ?? [];
  return JSON.parse(escaped.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
}

/** Creates a virtual authenticator with a new ES256 key. */
export function newAuthenticator(): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let userHandle = '';
  const clientData = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const response = (of: object) =>
    JSON.stringify({ id: base64url(id), rawId: base64url(id), type: 'public-key', ...of });
  return {
    create(page, { origin = 'http://localhost', verifies = true } = {}) {
      const { challenge, rp, user } = optionsOf(page);
      userHandle = user.id;
      const cose = Buffer.concat([hex('a5010203262001215820'), decoded(x), hex('225820'), decoded(y)]);
      // The flags mean: user present, user verified (optional), and attested credential data included. The signature
      // counter and the AAGUID are zero.
      const data = Buffer.concat([
        sha256(rp.id),
        hex(verifies ? '4500000000' : '4100000000'),
        Buffer.alloc(16),
        hex('0020'),
        id,
        cose,
      ]);
      const head = Buffer.concat([hex('a363'), Buffer.from('fmt'), hex('64'), Buffer.from('none'), hex('67')]);
      const names = [
        Buffer.from('attStmt'),
        hex('a068'),
        Buffer.from('authData'),
        hex('58'),
        Buffer.from([data.length]),
      ];
      return response({
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', challenge, origin)),
          attestationObject: base64url(Buffer.concat([head, ...names, data])),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      });
    },
    get(page, { origin = 'http://localhost', verifies = true } = {}) {
      const { challenge, rpId } = optionsOf(page);
      const data = Buffer.concat([sha256(rpId), hex(verifies ? '0500000000' : '0100000000')]);
      const client = clientData('webauthn.get', challenge, origin);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return response({
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(signature),
          userHandle,
        },
        clientExtensionResults: {},
      });
    },
  };
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

function decoded(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
