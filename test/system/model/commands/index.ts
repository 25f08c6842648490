import fc, { type Arbitrary } from 'fast-check';
import { type Sender, type Servers, Turn } from '../turn.ts';
import type { World } from '../world.ts';
import { activities } from './activities.ts';
import { approvals } from './approvals.ts';
import { articles } from './articles.ts';
import { assets } from './assets.ts';
import { attachments } from './attachments.ts';
import { businessHours } from './business-hours.ts';
import { changes } from './changes.ts';
import type { Kind } from './command.ts';
import { comments } from './comments.ts';
import { deliveries } from './deliveries.ts';
import { document, fields } from './fields.ts';
import { keys } from './keys.ts';
import { limits } from './limits.ts';
import { links } from './links.ts';
import { me, ping } from './me.ts';
import { projects } from './projects.ts';
import { proposals } from './proposals.ts';
import { requestForms } from './request-forms.ts';
import { tasks } from './tasks.ts';
import { teams } from './teams.ts';
import { ticketCategories } from './ticket-categories.ts';
import { tickets } from './tickets.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';

const byName: Record<string, Record<string, Kind>> = {
  ...{
    ping,
    me,
    tickets,
    comments,
    attachments,
    links,
    approvals,
    assets,
    articles,
    activities,
    projects,
    tasks,
    users,
    teams,
    fields,
    document,
    ticketCategories,
    requestForms,
    businessHours,
    proposals,
    webhooks,
    deliveries,
  },
  ...{ changes, limits, keys },
};

/** All commands by name, for example `tickets.update`. */
const kinds: ReadonlyMap<string, Kind> = new Map(
  Object.entries(byName).flatMap(([resource, some]) =>
    Object.entries(some).map(([name, kind]): [string, Kind] => [`${resource}.${name}`, kind]),
  ),
);

/** A command with its arguments and its sender. */
export interface Command {
  /** The index of the command in the episode. Rows that the command creates contain this number. */
  number: number;
  kind: string;
  by: Sender;
  given: unknown;
}

const by: Arbitrary<Sender> = fc.record({
  workspace: fc.nat(2),
  who: fc.oneof(
    // The index of a key in `members`. The first three send most of the requests.
    { weight: 82, arbitrary: fc.constantFrom(0, 0, 1, 1, 2, 2, 3, 4, 5) },
    { weight: 12, arbitrary: fc.constant('importer' as const) },
    { weight: 4, arbitrary: fc.constant('reader' as const) },
    { weight: 2, arbitrary: fc.constantFrom('stranger' as const, 'none' as const) },
  ),
});

const command: Arbitrary<Omit<Command, 'number'>> = fc.oneof(
  ...[...kinds].map(([name, { weight, given }]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(name), by, given }),
  })),
);

/** Generates the commands of an episode. The same seed generates the same commands. */
export function commandsOf(seed: number, count: number): Command[] {
  return fc.sample(command, { seed, numRuns: count }).map((each, number) => ({ ...each, number }));
}

export async function runCommand(world: World, servers: Servers, { number, kind, by, given }: Command): Promise<void> {
  const turn = new Turn(world, servers, number, by);
  const { isAlone = false, run } = kinds.get(kind) as Kind;
  await turn.workspace.gate.run(() => run(turn, given), isAlone);
}
