import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTask, startServiceDesk } from './run.ts';
import { tasks } from './tasks.ts';

/* Runs each task with the tool calls that a reasonable agent would make, and checks the result through the API. */
let desk: Awaited<ReturnType<typeof startServiceDesk>>;

beforeAll(async () => {
  desk = await startServiceDesk();
});
afterAll(() => desk.api.close());

for (const task of tasks)
  it(`completes the task: ${task.request}`, async ({ task: { meta } }) => {
    const cost = await runTask(desk, task);
    const { calls, tokens, toolTokens } = cost;
    // main.ts prints the cost of each task.
    Object.assign(meta, { cost });
    expect(toolTokens).toBeLessThanOrEqual(4000);
    // A call uses a few hundred tokens, regardless of the number of rows in the workspace.
    expect(tokens / calls).toBeLessThan(2000);
  });
