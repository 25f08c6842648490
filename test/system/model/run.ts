import { type Command, commandsOf } from './commands/index.ts';
import { type EpisodeReport, runEpisode } from './episode.ts';
import { closeConnections } from './send.ts';
import { openSystem, type System, type Victim, victims } from './system.ts';
import type { Finding } from './world.ts';

export interface ModelOptions {
  commands: number;
  seed: number;
  /** How long to search for a shorter failing history, in milliseconds. */
  shrinkFor: number;
  onProgress?: (progress: Progress) => void;
}

interface Progress {
  commands: number;
  requests: number;
  failures: number;
  findings: number;
  seconds: number;
}

export interface ModelReport {
  commands: number;
  requests: number;
  failures: Record<Victim, number>;
  seconds: number;
  /** The number of successful requests per operation. */
  succeeded: Record<string, number>;
  findings: FoundFinding[];
  crashes: string[];
}

/** A violation, and the commands that reproduce it. */
interface FoundFinding extends Finding {
  seed: number;
  /**
   * The shortest known list of commands that reproduces the violation. Undefined if the violation did not occur again.
   */
  commands: Command[] | undefined;
}

/** The number of commands per episode. Each episode has its own workspaces. */
const perEpisode = 2000;

/** Runs episodes until enough commands have run or an episode finds a violation. */
export async function runModel({ commands, seed, shrinkFor, onProgress }: ModelOptions): Promise<ModelReport> {
  const system = await openSystem();
  const since = Date.now();
  const report: ModelReport = {
    commands: 0,
    requests: 0,
    failures: { worker: 0, api: 0, postgres: 0, backend: 0, limitedApi: 0, notifications: 0 },
    seconds: 0,
    succeeded: {},
    findings: [],
    crashes: [],
  };
  try {
    const ending: Promise<void>[] = [];
    for (let begun = 0; begun < commands && report.findings.length === 0; begun += perEpisode) {
      const seedOfEpisode = seed + begun / perEpisode;
      const given = commandsOf(seedOfEpisode, Math.min(perEpisode, commands - begun));
      const { hasFailed, delivered } = await runEpisode(system, {
        name: `seed-${seedOfEpisode}`,
        seed: seedOfEpisode,
        commands: given,
        failures: failuresOf(seedOfEpisode, given.length),
      });
      const end = async () => {
        const episode = await delivered();
        add(report, episode);
        const found = episode.findings.slice(0, 5);
        if (found.length > 0) {
          const shorter = await shrink(system, seedOfEpisode, given, shrinkFor);
          report.findings.push(
            ...found.map((finding) => ({ ...finding, seed: seedOfEpisode, commands: shorter?.commands })),
          );
          if (shorter !== undefined)
            report.findings.push({ ...shorter.finding, seed: seedOfEpisode, commands: shorter.commands });
        }
        const { commands, requests, findings } = report;
        const failures = Object.values(report.failures).reduce((sum, each) => sum + each);
        onProgress?.({ commands, requests, failures, findings: findings.length, seconds: (Date.now() - since) / 1000 });
      };
      // Waits for the pending deliveries while the next episodes run.
      ending.push(end());
      if (hasFailed) await Promise.all(ending);
      else if (ending.length > 8) await ending.shift();
    }
    await Promise.all(ending);
    return { ...report, seconds: (Date.now() - since) / 1000, crashes: system.crashes() };
  } finally {
    closeConnections();
    await system.close();
  }
}

/**
 * Returns the faults of an episode. Their positions depend on the seed. Of every four episodes, one contains each fault
 * once, one repeatedly kills the API and PostgreSQL, and two contain no faults.
 */
function failuresOf(seed: number, commands: number): { at: number; victim: Victim }[] {
  const failing =
    { 0: victims, 2: Array.from({ length: 4 }, (): Victim[] => ['api', 'postgres', 'backend']).flat() }[seed % 4] ?? [];
  return failing.map((victim, index) => {
    const share = commands / (failing.length + 1);
    return { at: Math.floor(share * (index + 0.2 + 0.6 * fraction(seed * failing.length + index))), victim };
  });
}

/** Returns a pseudorandom number between 0 and 1 (Knuth's multiplicative hash). */
function fraction(seed: number): number {
  return ((seed * 2_654_435_761) % 2 ** 32) / 2 ** 32;
}

function add(report: ModelReport, { commands, succeeded, failures, requests }: EpisodeReport): void {
  report.commands += commands;
  report.requests += Math.round(requests);
  for (const victim of failures) report.failures[victim]++;
  for (const [name, count] of succeeded) report.succeeded[name] = (report.succeeded[name] ?? 0) + count;
}

/**
 * Finds a shorter list of commands that still causes a violation. First removes many commands at a time, then fewer.
 */
async function shrink(
  system: System,
  seed: number,
  given: Command[],
  forMs: number,
): Promise<{ commands: Command[]; finding: Finding } | undefined> {
  const deadline = Date.now() + forMs;
  let shortest: { commands: Command[]; finding: Finding } | undefined;
  let attempt = 0;
  const fails = async (commands: Command[]) => {
    const { delivered } = await runEpisode(system, {
      name: `seed-${seed}-again-${attempt++}`,
      seed,
      commands,
      failures: [],
    });
    const [finding] = (await delivered()).findings;
    if (finding !== undefined) shortest = { commands, finding };
    return finding !== undefined;
  };
  if (forMs === 0 || !(await fails(given))) return undefined;
  for (
    let size = Math.ceil(given.length / 2);
    size >= 1 && Date.now() < deadline;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < (shortest?.commands.length ?? 0) && Date.now() < deadline; ) {
      const { commands } = shortest ?? { commands: given };
      const others = commands.filter((_, index) => index < from || index >= from + size);
      if (others.length === 0 || !(await fails(others))) from += size;
    }
  }
  return shortest;
}

/** Formats the report for a terminal. */
export function formatModel({ commands, requests, failures, seconds, findings, crashes }: ModelReport): string {
  const kills = Object.entries(failures).map(([victim, count]) => `${count} ${victim}`);
  const lines = findings.flatMap(({ what, history, seed, commands }) => [
    '',
    `  ${what}`,
    ...history.map((line) => `    ${line}`),
    `  Reproduce: pnpm model --commands ${perEpisode} --seed ${seed}`,
    ...(commands === undefined
      ? []
      : [`  Minimal commands: ${commands.length}`, ...commands.map((each) => `    ${JSON.stringify(each)}`)]),
  ]);
  return `
  ${commands} commands, ${requests} requests in ${seconds.toFixed(0)} s (${(commands / seconds).toFixed(0)} commands/s)
  Failures                    ${kills.join(', ')}
  Findings                    ${findings.length}
  Crashes                     ${crashes.length}
${lines.join('\n')}
`;
}
