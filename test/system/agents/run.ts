import { type Api, startApi } from '../../support/api.ts';
import { type Agent, type Cost, startAgent } from './agent.ts';
import { createServiceDesk } from './service-desk.ts';
import { scopesOf, type Task } from './tasks.ts';

/** Starts a server with the default rate limits, but with a rate limit window of 2 seconds. */
export async function startServiceDesk(): Promise<{ api: Api; origin: string }> {
  const env = { RATE_LIMIT_GLOBAL: '60', RATE_LIMIT_GROUP: '30', RATE_LIMIT_WINDOW_SECONDS: '2' };
  const api = await startApi({ env });
  return { api, origin: await api.app.listen({ host: '127.0.0.1', port: 0 }) };
}

/**
 * Runs a task in a new workspace.
 * @returns the cost of the task
 * @throws if the task's check fails
 */
export async function runTask({ api, origin }: { api: Api; origin: string }, task: Task): Promise<Cost> {
  const desk = await createServiceDesk(api);
  const key = await desk.createKey({ scopes: scopesOf(task) });
  const agent = await startAgent(origin + (task.path ?? '/mcp'), key);
  try {
    const strict: Agent = {
      ...agent,
      call(tool, args = {}) {
        agent.checkDescribed(tool, args);
        return agent.call(tool, args);
      },
    };
    await task.check(desk, await task.run(task.isDescribed ? strict : agent, desk));
    return agent.cost;
  } finally {
    await agent.close();
  }
}
