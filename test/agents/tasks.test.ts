import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTask, startGround } from './run.ts';
import { tasks } from './tasks.ts';

/*
 * What agents get done with the tools, by the calls that a reasonable one makes, looked at through the API.
 */
let ground: Awaited<ReturnType<typeof startGround>>;

beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground.api.close());

for (const task of tasks)
  it(task.asked, async ({ task: { meta } }) => {
    const cost = await runTask(ground, task);
    const { calls, tokens, toolTokens } = cost;
    // For main.ts, which prints it.
    Object.assign(meta, { cost });
    expect(toolTokens).toBeLessThanOrEqual(4000);
    // A few hundred tokens for a call, however many rows there are.
    expect(tokens / calls).toBeLessThan(2000);
  });
