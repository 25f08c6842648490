import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTask, startGround } from './run.ts';
import { tasks } from './tasks.ts';

/* Runs tasks with the calls that a reasonable agent makes, and checks the results through the API. */
let ground: Awaited<ReturnType<typeof startGround>>;

beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground.api.close());

for (const task of tasks)
  it(`completes the task: ${task.request}`, async ({ task: { meta } }) => {
    const cost = await runTask(ground, task);
    const { calls, tokens, toolTokens } = cost;
    // main.ts prints the cost of each task.
    Object.assign(meta, { cost });
    expect(toolTokens).toBeLessThanOrEqual(4000);
    // Calls need a few hundred tokens, regardless of the number of rows in the workspace.
    expect(tokens / calls).toBeLessThan(2000);
  });
