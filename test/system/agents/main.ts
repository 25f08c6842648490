import { startVitest } from 'vitest/node';
import type { Cost } from './agent.ts';

/* `pnpm agents` runs the tasks in tasks.test.ts and prints the table of costs for docs/agent-costs.md. */
const vitest = await startVitest('test', ['agents/tasks'], {
  root: new URL('..', import.meta.url).pathname,
  watch: false,
  reporters: [],
});
const prefix = 'completes the task: ';
const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const done = tests.filter(({ name }) => name.startsWith(prefix));
const lines = done.map((test) => {
  const { cost } = test.meta() as { cost?: Cost };
  const request = test.name.slice(prefix.length);
  return cost === undefined
    ? `| ${request} | failed | |`
    : `| ${request} | ${cost.calls} | ${cost.tokens.toLocaleString('en')} |`;
});
await vitest.close();
const costs = done.flatMap((test) => (test.meta() as { cost?: Cost }).cost ?? []);
const total = (of: (cost: Cost) => number) => costs.reduce((sum, cost) => sum + of(cost), 0).toLocaleString('en');
process.stdout.write(`| task | calls | tokens |
| ---- | ----: | -----: |
${lines.join('\n')}
| all ${done.length} | ${total(({ calls }) => calls)} | ${total(({ tokens }) => tokens)} |

List of tools: ${Math.max(...costs.map(({ toolTokens }) => toolTokens)).toLocaleString('en')} tokens.
`);
process.exitCode = costs.length === done.length ? 0 : 1;
