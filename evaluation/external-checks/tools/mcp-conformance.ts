import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ExternalCheck, type Product, run, toResult, versionReader } from '../external-check.ts';

/** The conformance tests of the Model Context Protocol for servers. */
export const mcpConformance: ExternalCheck = {
  name: 'MCP conformance',
  about: 'The MCP server. A check is a scenario.',
  version: versionReader('@modelcontextprotocol/conformance'),
  async run(product) {
    const proxy = authorizingProxy(product).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const { port } = proxy.address() as AddressInfo;
      const output = await run('conformance', ['server', '--url', `http://127.0.0.1:${port}/mcp`]);
      const scenarios = [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)];
      const failed = scenarios.filter(([, , , failures]) => Number(failures) > 0);
      const findings = failed.map(([message, rule = '']) => ({ rule, message }));
      return toResult(scenarios.length, findings);
    } finally {
      proxy.close();
    }
  },
};

/** Returns a proxy that adds the API key to each request, because the tool can't authenticate. */
function authorizingProxy({ origin, key }: Product) {
  return createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const options = { method, headers: { ...headers, authorization: `Bearer ${key}` } };
    const forwarded = request(new URL(url, origin), options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
}
