import axe from 'axe-core';
import { it } from 'vitest';
import { startApi } from '../support/api.ts';
import { launchBrowser } from '../support/browser.ts';
import { query } from '../support/database.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

it('shots', { timeout: 120_000 }, async () => {
  const api = await startApi();
  const ws = await createWorkspace(api);
  const keyId = Number(ws.context.keyId);
  const combos = [['tickets_list', 'SUCCESSFUL', 8, 40], ['tickets_get', 'SUCCESSFUL', 3, 90], ['tickets_get', 'CLIENT_ERROR', 3, 5], ['assets_list', 'SUCCESSFUL', 9, 20], ['projects_list', 'SUCCESSFUL', 5, 9], ['webhooks_test', 'SUCCESSFUL', 15, 3], ['tickets_list', 'GROUP_LIMIT', 0, 12], ['users_list', 'GLOBAL_LIMIT', 0, 5], ['tickets_createMany', 'SERVER_ERROR', 18, 1]];
  for (const [table, unit, n] of [['usage_hours', 'hour', 168], ['usage_minutes', 'minute', 60]] as const)
    for (const key of [0, keyId]) for (const [endpoint, outcome, bucket, base] of combos as [string, string, number, number][])
      await query(api.databaseUrl, `INSERT INTO ${table} SELECT $1, date_trunc('${unit}', now()) - i * interval '1 ${unit}', $2, $3, $4, 1 + ($5 * (1 + sin(i / 5.0)))::int, array_fill(0, ARRAY[$6::int]) || (1 + ($5 * (1 + sin(i / 5.0)))::int) || array_fill(0, ARRAY[23 - $6::int]), $7, $7 FROM generate_series(0, ${n - 1}) i`, [ws.tenantId, key, endpoint, outcome, base, bucket, key === 0 ? 0 : outcome.includes('LIMIT') ? 100 : 40]);
  const visitor = await signIn(api, ws);
  const { port } = new URL(await api.app.listen({ port: 0, host: '127.0.0.1' }));
  const browser = await launchBrowser();
  for (const [name, path, colorScheme, width, theme] of [['24h', '/developer/usage', 'light', 1280], ['7d', '/developer/usage?range=7d', 'dark', 1280], ['1h', '/developer/usage?range=1h', 'light', 390], ['button', '/developer/usage', 'light', 1280, 'dark']] as [string, string, 'light', number, string?][]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    await context.addCookies([...visitor.cookies].map(([n, v]) => ({ name: n, value: v, domain: 'localhost', path: '/' })));
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('response', (r) => { if (r.url().includes('.svg')) asked.push(`${r.status()} ${r.url().split('/').pop()}`) });
    page.on('console', (m) => console.log('console', m.text()));
    if (theme) await page.addInitScript(`localStorage.setItem('colorMode', '${theme}')`);
    const s = performance.now();
    await page.goto(`http://localhost:${port}${path}`, { waitUntil: 'networkidle' });
    for (const img of await page.locator('.chart img:visible').all()) { await img.scrollIntoViewIfNeeded(); }
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(1500);
    console.log(name, performance.now() - s, asked);
    if (name === '24h') await page.locator('details').last().locator('summary').click();
    await page.screenshot({ path: `/tmp/u-${name}.png`, fullPage: true });
    await page.evaluate(axe.source);
    const found = await page.evaluate(() => (globalThis as any).axe.run());
    console.log(found.violations.map((v: any) => [v.id, v.nodes.map((n: any) => n.html.slice(0, 200))]));
    await context.close();
  }
  const t = performance.now(); const r = await visitor.get('/developer/usage?range=7d', { 'accept-encoding': 'gzip' }); console.log('page ms', performance.now() - t, Buffer.byteLength(r.text));
  await browser.close();
  await api.close();
});
