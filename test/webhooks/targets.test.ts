import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { createAgent } from '@itsm-api/server/webhooks/delivery/http-agent.ts';
import { createTargetPolicy, readTargetPolicy } from '@itsm-api/server/webhooks/delivery/target.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../support/api.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace, type Workspace, webhook } from '../support/workspace.ts';

const minute = 60_000;

let sender: Sender;
/** Listens on every address of this machine to detect connections to a private target. */
let canary: Receiver;

beforeAll(async () => {
  canary = await startReceiver(undefined, { host: '::' });
  sender = await startSender({ allowPrivateTargets: false, connection: { lookup } });
  await sender.startWorker();
});
afterAll(async () => {
  await canary.close();
  await sender.close();
});

/** URL hosts that refer to the local machine. */
const loopback = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0X7F.1',
  '0x7f.0.0.0x1',
  '0177.0.0.1',
  '017700000001',
  '0000000000177.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  '0.0.0.0',
  '0',
  '0x0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
];

/** Addresses that, according to the IANA registries or common use, are not public unicast addresses. */
const special = [
  // IPv4 addresses: private networks, carrier-grade NAT and link-local, including the metadata services of cloud
  // providers.
  '10.0.0.1',
  '0xa000001',
  '012.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '3232235777',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.170.2',
  // IPv4 addresses: protocol assignments, documentation, benchmarks, 6to4 relays, multicast, reserved and broadcast.
  '0.1.2.3',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '198.18.0.1',
  '198.19.255.255',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '0xffffffff',
  // IPv6 addresses that contain IPv4 addresses: mapped, translated, compatible, NAT64, 6to4 and Teredo.
  '[::ffff:10.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::a00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001::1]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  // IPv6 addresses: link-local, site-local, unique local (including a metadata service), multicast, discard,
  // documentation, benchmarks and ORCHID.
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[ff0e::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[5f00::1]',
  '[4000::1]',
];

/** Host names that are never public. */
const names = [
  'localhost',
  'LOCALHOST.',
  'ｌocalhost',
  'app.localhost',
  'intranet',
  'nas.local',
  'metadata.google.internal',
];

/**
 * The addresses that the test resolver returns for each host name. Each entry is the result of one lookup. Further
 * lookups return the last entry.
 */
const addresses: Record<string, string[][]> = {
  'loopback.example.com': [['127.0.0.1']],
  'loopback6.example.com': [['::1']],
  'private.example.com': [['10.0.0.1']],
  'metadata.example.com': [['169.254.169.254']],
  'unspecified.example.com': [['0.0.0.0']],
  'mapped.example.com': [['::ffff:127.0.0.1']],
  'nat64.example.com': [['64:ff9b::7f00:1']],
  'translated.example.com': [['::ffff:0:7f00:1']],
  'compatible.example.com': [['::7f00:1']],
  '6to4.example.com': [['2002:7f00:1::']],
  'teredo.example.com': [['2001::1']],
  'zone.example.com': [['fe80::1%lo']],
  'loopback-zone.example.com': [['::1%lo']],
  'public-zone.example.com': [['2000::1%lo', '127.0.0.1']],
  'dot.example.com.': [['127.0.0.1']],
  'unique-local.example.com': [['fd00::1']],
  'mixed4.example.com': [['2000::1', '127.0.0.1']],
  'mixed6.example.com': [['::1', '2000::1']],
  'one-of-many.example.com': [['2000::1', '2000::2', '2000::3', '10.0.0.1']],
  'nothing.example.com': [[]],
  // 2000::/16 is in the public unicast range but is unassigned, so the test sends nothing to other machines.
  'rebinding.example.com': [['2000::1'], ['127.0.0.1']],
};
const lookedUp: string[] = [];

const lookup: LookupFunction = (hostname, options, callback) => {
  const rounds = addresses[hostname] ?? [];
  const round = lookedUp.filter((name) => name === hostname).length;
  lookedUp.push(hostname);
  const found = (rounds[Math.min(round, rounds.length - 1)] ?? []).map(
    (address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
  );
  if (options.all) callback(null, found);
  else callback(null, found[0]?.address ?? '', found[0]?.family);
};

/** Stores subscriptions directly in the database, so the server doesn't check the URLs. Each call uses a new workspace. */
async function store(urls: string[]): Promise<{ owner: Workspace; ids: number[] }> {
  const owner = await createWorkspace(sender.api);
  const ids: number[] = [];
  for (const url of urls) {
    const { id } = await owner.createWebhook();
    await sender.api.prisma.webhookSubscription.updateMany({ where: { id }, data: { url } });
    ids.push(id);
  }
  return { owner, ids };
}

/** Emits an event to the subscriptions. Returns the errors of the delivery attempts. */
async function emitTo({ owner, ids }: Awaited<ReturnType<typeof store>>): Promise<(string | null | undefined)[]> {
  await owner.createTicket();
  return Promise.all(
    ids.map((id) =>
      eventually(async () => {
        const [delivery] = await sender.settled(id);
        expect(delivery?.history).toHaveLength(1);
        expect(delivery).toMatchObject({ state: 'PENDING', history: [{ number: 1, status: null, answer: null }] });
        return delivery?.history[0]?.error;
      }),
    ),
  );
}

describe('private webhook target', () => {
  it.each([...loopback, ...special, ...names])('rejects the registration of a webhook to %s', async (host) => {
    for (const url of [`https://${host}/`, `https://${host}:${canary.port}/hook`]) {
      const answer = await sender.workspace.call('POST', '/webhooks', { ...webhook, url });
      expect(answer.status, url).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'url' }] });
    }
  });

  it.each(['[fe80::1%25lo]', '[::1%25lo]', '[::1%lo]', '[2000::1%251]', 'localhost%2e', '%6cocalhost'])(
    'rejects the registration of a webhook to %s, which contains an IPv6 zone or percent-encoding',
    async (host) => {
      const url = `https://${host}:${canary.port}/hook`;
      const answer = await sender.workspace.call('POST', '/webhooks', { ...webhook, url });
      expect([answer.status, errorOf(answer).details]).toMatchObject([400, [{ path: 'url' }]]);
    },
  );

  it('fails a delivery if the stored webhook URL is private or invalid', async () => {
    const hosts = [...loopback, ...special, ...names];
    expect(hosts.length).toBeGreaterThanOrEqual(40);
    const stored = await store(hosts.map((host) => `https://${host}:${canary.port}/hook`));
    expect(new Set(await emitTo(stored))).toEqual(
      new Set(['url must have a public host. Localhost, private addresses and internal names are not allowed.']),
    );

    const others = await store([canary.url, `https://user@127.0.0.1:${canary.port}/`, 'no URL']);
    const errors = ['start with https://', 'not contain a user name or password', 'be an absolute URL'];
    expect(await emitTo(others)).toEqual(errors.map((error) => expect.stringContaining(`url must ${error}`)));
    expect(canary.connections).toBe(0);
  });

  it('fails a delivery if the host name resolves to a private address', async () => {
    const privateNames = Object.keys(addresses).filter((name) => name !== 'rebinding.example.com');
    const stored = await store(privateNames.map((name) => `https://${name}:${canary.port}/hook`));
    const errors = privateNames.map((name) => `${name} resolves to an address that is not public`);
    expect(await emitTo(stored)).toEqual(errors);
    expect(canary.connections).toBe(0);
  });

  it('rejects a host name that resolves to a private address at a later lookup', async () => {
    const host = 'rebinding.example.com';
    const stored = await store([`https://${host}:${canary.port}/hook`]);
    // The worker resolves the host name once, checks the address, and connects to the checked address.
    expect(await emitTo(stored)).toEqual([expect.not.stringContaining('public')]);
    expect(lookedUp.filter((name) => name === host)).toHaveLength(1);

    await sender.advance(minute);
    await eventually(async () => {
      const [delivery] = await sender.settled(stored.ids[0] as number);
      expect(delivery?.history.map(({ error }) => error)).toEqual([
        expect.any(String),
        `${host} resolves to an address that is not public`,
      ]);
    });
    expect(canary.connections).toBe(0);
  });
});

describe('allowed private targets', () => {
  it('delivers to private URLs and names if private targets are allowed', async () => {
    const open = await startSender({ connection: { lookup } });
    try {
      await open.startWorker();
      const hosts = [...loopback, 'loopback.example.com', 'loopback6.example.com', 'mapped.example.com'];
      const before = canary.received.length;
      for (const host of hosts) await open.workspace.createWebhook({ url: `http://${host}:${canary.port}/hook` });
      await open.workspace.createTicket();
      await eventually(() => expect(canary.received).toHaveLength(before + hosts.length));
      expect(new Set(canary.received.slice(before).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    } finally {
      await open.close();
    }
  });
});

describe('targets that are always blocked', () => {
  const never = [
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '169.254.0.1',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[fd00:42::42]',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '2852039166',
    '[64:ff9b::a9fe:a9fe]',
  ];
  const why = 'has a host that this server blocks for webhooks. Use another host.';

  it.each(never)('blocks the webhook target %s even if private targets are allowed', (host) => {
    const policy = createTargetPolicy({ allowPrivate: true, blockedNetworks: [] });
    expect(() => policy.checkUrl(`http://${host}/latest/meta-data`)).toThrow(why);
  });

  it('fails a delivery to a blocked address or name even if private targets are allowed', async () => {
    const open = await startSender({ connection: { lookup } });
    try {
      await open.startWorker();
      const id = async (host: string) => {
        const { id } = await open.workspace.createWebhook();
        await open.api.prisma.webhookSubscription.updateMany({ where: { id }, data: { url: `http://${host}/` } });
        return id;
      };
      const ids = [await id('169.254.169.254'), await id('metadata.example.com')];
      await open.workspace.createTicket();
      for (const [index, id] of ids.entries()) {
        await eventually(async () => {
          const [delivery] = await open.settled(id);
          const expected = [`url ${why}`, 'metadata.example.com resolves to an address that is blocked for webhooks'][
            index
          ];
          expect(delivery?.history.map(({ error }) => error)).toEqual([expected]);
        });
      }
    } finally {
      await open.close();
    }
  });
});

it.each([
  ['::ffff:169.254.169.254', 'IPv4 within IPv6'],
  ['64:ff9b::a9fe:a9fe', 'NAT64'],
  ['64:ff9b:1::a9fe:a9fe', 'NAT64 with the local-use prefix'],
  ['::ffff:0:a9fe:a9fe', 'translated'],
  ['2002:a9fe:a9fe::', '6to4'],
  ['2001:0:a9fe:a9fe::', 'a Teredo server'],
  ['2001:0:808:808:0:0:5601:5601', 'a Teredo client'],
])('blocks the address %s of a metadata service (%s)', (address) => {
  const policy = createTargetPolicy({ allowPrivate: true, blockedNetworks: [] });
  expect(policy.findBlockReason(address)).toBe('is blocked for webhooks');
});

describe('WEBHOOK_BLOCKED_NETWORKS', () => {
  const networks = ['198.41.0.0/16', '64:ff9b:1::/48', '2600:1f18::/33', '9.9.9.9', '127.0.0.2/32'];

  it('blocks addresses in WEBHOOK_BLOCKED_NETWORKS and the NAT64 forms of the addresses', () => {
    const policy = createTargetPolicy({ allowPrivate: false, blockedNetworks: networks });
    const check = (host: string) => () => policy.checkUrl(`https://${host}/`);
    const why = 'has a host that this server blocks for webhooks. Use another host.';
    for (const host of ['198.41.0.4', '[64:ff9b::c629:4]', '[2600:1f18::1]', '9.9.9.9', '[::ffff:9.9.9.9]']) {
      expect(check(host), host).toThrow(why);
    }
    for (const host of ['198.42.0.4', '[64:ff9b::808:808]', '[2600:1f18:8000::1]', '9.9.9.10']) {
      expect(check(host), host).not.toThrow();
    }
    // The NAT64 prefix 64:ff9b:1::/48 is for local use and never public.
    expect(check('[64:ff9b:1::808:808]')).toThrow(
      'must have a public host. Localhost, private addresses and internal names are not allowed.',
    );
  });

  it('blocks IPv4 addresses whose IPv4-mapped IPv6 form is in WEBHOOK_BLOCKED_NETWORKS', () => {
    const policy = createTargetPolicy({
      allowPrivate: true,
      blockedNetworks: ['::ffff:10.1.0.0/112', '::ffff:9.9.9.9'],
    });
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '9.9.9.9']) {
      expect(policy.findBlockReason(address), address).toBe('is blocked for webhooks');
    }
    expect(policy.findBlockReason('10.2.0.1')).toBeUndefined();
  });

  it('blocks connections to addresses and host names in WEBHOOK_BLOCKED_NETWORKS', async () => {
    const targets = createTargetPolicy({ allowPrivate: true, blockedNetworks: ['127.0.0.0/8'] });
    const attempt = async (url: string, policy = targets) => {
      const agent = createAgent({ targets: policy, lookup });
      try {
        return await agent.request({ origin: url, path: '/', method: 'GET' }).then(
          ({ statusCode }) => statusCode,
          (error: Error) => error.message,
        );
      } finally {
        await agent.destroy();
      }
    };
    const before = canary.received.length;
    const why = 'an address that is blocked for webhooks';
    expect(await attempt(`http://loopback.example.com:${canary.port}`)).toBe(`loopback.example.com resolves to ${why}`);
    expect(await attempt(`http://127.0.0.1:${canary.port}`)).toBe(`the server connected to ${why}`);
    expect(canary.received).toHaveLength(before);
    const open = createTargetPolicy({ allowPrivate: true, blockedNetworks: ['127.0.0.2/32'] });
    expect(await attempt(`http://127.0.0.1:${canary.port}`, open)).toBe(200);
  });
});

describe('readTargetPolicy', () => {
  const key = Buffer.alloc(32, 1).toString('base64');

  it.each<[string, Record<string, string>, boolean]>([
    ['allows them on a loopback HOST with the embedded PostgreSQL', {}, true],
    ['allows them on localhost', { HOST: 'localhost' }, true],
    ['allows them with a loopback PUBLIC_URL', { PUBLIC_URL: 'http://localhost:8080' }, true],
    ['blocks them behind a proxy', { TRUST_PROXY: 'loopback' }, false],
    ['blocks them with a public PUBLIC_URL', { PUBLIC_URL: 'https://itsm.example.com' }, false],
    ['blocks them on another HOST', { HOST: '0.0.0.0' }, false],
    [
      'blocks them with an external database',
      { DATABASE_URL: 'postgresql://localhost/itsm', WEBHOOK_SECRET_KEY: key },
      false,
    ],
    [
      'allows them behind a proxy if WEBHOOK_ALLOW_PRIVATE_TARGETS is true',
      { TRUST_PROXY: 'loopback', WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
      true,
    ],
    ['blocks them if WEBHOOK_ALLOW_PRIVATE_TARGETS is false', { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' }, false],
  ])('reads the policy for private webhook targets: %s', (_, env, allowed) => {
    expect(readTargetPolicy(readSettings(env)).allowPrivate).toBe(allowed);
  });
});
