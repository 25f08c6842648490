import { type AllowedFailure, exceptions, skippedPrograms } from './exceptions.ts';
import type { Failure, Result } from './external-check.ts';

/** The result of a tool, or why it couldn't run. */
export interface Outcome extends Result {
  tool: string;
  about: string;
  version: string;
  error?: string;
}

/** The path of the report, relative to this folder. */
export const reportFile = '../../docs/external-checks.md';

function findException(tool: string, rule: string): AllowedFailure | undefined {
  return exceptions.find((exception) => exception.tool === tool && exception.rule === rule);
}

/** Returns a message for each result that the exceptions don't allow, and for each exception that allows too much. */
export function unexpectedOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ tool, failures, error }) => {
    if (error !== undefined) return [`${tool} could not run: ${error}`];
    const found = failures.flatMap(({ rule, count, example }) => {
      const allowed = findException(tool, rule)?.count ?? 0;
      return count > allowed ? [`${tool}: ${rule} fails ${count} times, ${allowed} are allowed. ${example}`] : [];
    });
    const outdated = exceptions
      .filter((exception) => exception.tool === tool)
      .flatMap(({ rule, count }) => {
        const failed = failures.find((failure) => failure.rule === rule)?.count ?? 0;
        return failed < count ? [`${tool}: ${rule} fails only ${failed} times. Lower the count in exceptions.ts.`] : [];
      });
    return [...found, ...outdated];
  });
}

/** Returns the results as a table for a terminal. */
export function toTable(outcomes: readonly Outcome[]): string {
  const rows = [['tool', 'version', 'checks', 'passed', 'failed'], ...outcomes.map(cellsOf)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const pad = (cell: string, column: number) => cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

function cellsOf({ tool, version, checks, failed, error }: Outcome): string[] {
  if (error !== undefined) return [tool, version, '', '', `could not run: ${error}`];
  return [tool, version, String(checks), String(checks - failed), String(failed)];
}

/** Returns docs/external-checks.md. */
export function toMarkdown(outcomes: readonly Outcome[], date: Date): string {
  const results = outcomes.map((outcome) => row([...cellsOf(outcome), outcome.about]));
  const failures = outcomes.flatMap(({ tool, failures }) =>
    [...Map.groupBy(failures, (failure) => reasonOf(tool, failure))].map(([reason, same]) =>
      row([tool, same.map(({ rule, count }) => `\`${rule}\` (${count})`).join(', '), reason]),
    ),
  );
  return `# External checks

Linters, validators and clients that others wrote check the API, the MCP server, the packages and the pages of this
project. The command \`pnpm external-checks\` installs them, runs them on a server with the demo workspace, and writes this
page. It last ran on ${date.toISOString().slice(0, 10)}.

## Results

If the checks of a tool are rules, a rule that fails several times is one failed check.

| tool | version | checks | passed | failed | what it examines |
| ----- | ------- | -----: | -----: | -----: | ---------------- |
${results.join('\n')}

## Failures

Each reason says what a correction would cost users. If a tool finds more than this table allows, \`pnpm external-checks\`
fails. If the number of allowed failures per operation rises, \`test/rules/external-checks.test.ts\` fails.

| tool | rules, and how often they fail | reason |
| ----- | ------------------------------ | ------ |
${failures.join('\n')}

## Not run

${skippedPrograms.map((line) => `- ${line}`).join('\n')}
`;
}

function reasonOf(tool: string, { rule, example }: Failure): string {
  return findException(tool, rule)?.reason ?? `**Without a reason.** ${example}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
