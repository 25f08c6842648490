import type { Command } from 'commander';

/** What can be asked of the database for a completion, by what it names (complete.ts). */
export type Known = 'tenants' | 'users' | 'keys' | 'webhooks' | 'projects' | 'assets' | 'deliveries';

/** An option or an argument: what parses it, and what help, completions and the reference say of it. */
export interface Parameter {
  /** As commander writes it: `--asset-tag <tag>`, `<id>`, `[file]`. */
  flags: string;
  about?: string;
  /** Of an option: whether the command can't do without it. */
  required?: boolean;
  /** Of an option: whether others must not see it, as they do in a list of processes. Then `-` is a line of standard input. */
  secret?: boolean;
  /** What it is where it isn't given. */
  fallback?: string;
  /** What it may be, for completions: these, or what the database knows. A list separated by commas has them, too. */
  values?: readonly string[] | Known;
}

/** One thing that can be done, as far as it is told of. */
export interface Verb {
  /** A line for lists; begins with what it does and has no full stop. */
  summary: string;
  /** What else is to be known before it is called. */
  details?: string;
  arguments?: readonly Parameter[];
  options?: readonly Parameter[];
  /** What follows the program's name. */
  examples: readonly string[];
  /** Prints no result, so that there is no `--json` for it. */
  plain?: boolean;
}

/** What a verb does, with the arguments and options that commander has read. */
export type Action = (this: Command) => Promise<void>;

/** What there is a command for. What its verbs do is loaded when it is done: help comes without a database. */
export interface Noun {
  verbs: Readonly<Record<string, Verb>>;
  findAction(verb: string): Promise<Action | undefined>;
}

/** A command without verbs. */
export interface Single {
  verb: Verb;
  actions(): Promise<{ run: Action }>;
}

type Actions<Name extends string> = () => Promise<Readonly<Record<Name, Action>>>;

interface Given<Name extends string, Quick extends Name> {
  verbs: Record<Name, Verb>;
  actions: Actions<Exclude<Name, NoInfer<Quick>>>;
  /** Those that need no database, apart from the others, so that they don't wait for what these need. */
  withoutDatabase?: Actions<Quick>;
}

/** A noun each of whose verbs has its action, of the same name. */
export function noun<Name extends string, Quick extends Name = never>(given: Given<Name, Quick>): Noun {
  const { verbs, actions, withoutDatabase } = given;
  return {
    verbs,
    async findAction(verb) {
      const quick: Partial<Record<string, Action>> = (await withoutDatabase?.()) ?? {};
      const all: Partial<Record<string, Action>> = verb in quick ? quick : await actions();
      return all[verb];
    },
  };
}

/** An entry of the table of commands: what it names is loaded when it is called. */
export interface Entry {
  summary: string;
  load(): Promise<Noun | Single>;
}

/** Options that many commands have. */
export const common = {
  tenant: { flags: '--tenant <tenant>', about: 'name or id of the tenant', required: true, values: 'tenants' },
  utc: { flags: '--utc', about: 'exact times, in UTC' },
  q: { flags: '--q <words>', about: 'only those that hold all of these words' },
  limit: { flags: '--limit <count>', about: 'how many at most', fallback: '50' },
  yes: { flags: '--yes', about: 'do not ask' },
  json: { flags: '--json', about: 'print one JSON document, errors included' },
} as const satisfies Record<string, Parameter>;

/** The options of a verb, with those that every verb has. */
export function optionsOf({ options = [], plain = false }: Verb): readonly Parameter[] {
  return plain ? options : [...options, common.json];
}
