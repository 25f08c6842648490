import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTask, startServiceDesk } from './run.ts';
import { tasks } from './tasks.ts';

/* Runs each task with the tool calls that a reasonable agent would make, and checks the result through the API. */
let desk: Awaited<ReturnType<typeof startServiceDesk>>;

beforeAll(async () => {
  desk = await startServiceDesk();
});
afterAll(() => desk.api.close());

/** The number of tokens in the list of tools for a key with the default scopes. */
let listTokens = 0;

for (const task of tasks)
  it(`completes the task: ${task.request}`, async ({ task: { meta } }) => {
    const cost = await runTask(desk, task);
    const { calls, tokens, toolTokens } = cost;
    // main.ts prints the cost of each task.
    Object.assign(meta, { cost });
    if (task.scopes === undefined && task.path === undefined) listTokens = toolTokens;
    expect(toolTokens).toBeLessThanOrEqual(4500);
    // A call uses a few hundred tokens, regardless of the number of rows in the workspace.
    expect(tokens / calls).toBeLessThan(2000);
  });

it('agrees with the tasks and the size of the list of tools in docs/agent-costs.md', () => {
  const page = readFileSync(new URL('../../../docs/agent-costs.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) +\| +\d+ \| +[\d,]+ \|$/gm)].map(([, request]) => request);
  expect(rows).toEqual([...tasks.map(({ request }) => request), `all ${tasks.length}`]);
  expect(page).toContain(`for ${tasks.length} typical tasks`);
  expect(page).toContain(`which has ${listTokens.toLocaleString('en')} tokens`);
});
