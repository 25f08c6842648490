import type { Command } from 'commander';

/** A kind of value that completions look up in the database (completion-values.ts). */
export type Known = 'tenants' | 'users' | 'keys' | 'webhooks' | 'projects' | 'assets' | 'deliveries';

/** An option or argument, as the parser, help, completions and command reference use it. */
export interface Parameter {
  /** In the syntax of commander: `--asset-tag <tag>`, `<id>`, `[file]`. */
  flags: string;
  about?: string;
  /** Whether the option is mandatory. */
  required?: boolean;
  /** Whether the option is secret. Process lists show arguments, so `-` reads a secret from standard input. */
  secret?: boolean;
  /** The default value. */
  fallback?: string;
  /** The values that completions offer, for a single value or a comma-separated list. */
  values?: readonly string[] | Known;
}

/** The description of a command. Its action is loaded separately. */
export interface Verb {
  /** One line for lists: starts with an imperative and has no full stop. */
  summary: string;
  /** Further paragraphs of the help, with full stops. */
  details?: string;
  arguments?: readonly Parameter[];
  options?: readonly Parameter[];
  /** Calls without the name of the program. */
  examples: readonly string[];
  /** Whether the command prints no result, and has no option `--json`. */
  plain?: boolean;
}

/** Runs a command. Commander binds `this` and has parsed the arguments and options. */
export type Action = (this: Command) => Promise<void>;

/** A command with verbs. Actions are loaded on demand, so help doesn't load the code of the database. */
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
  /** Actions without a database, in a module of their own, because the database code takes long to load. */
  withoutDatabase?: Actions<Quick>;
}

/** Creates a noun, and checks by types that each verb has an action of the same name. */
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

/** An entry of the command table. `load` imports the description on demand. */
export interface Entry {
  summary: string;
  load(): Promise<Noun | Single>;
}

/** Options that several commands share. */
export const common = {
  tenant: { flags: '--tenant <tenant>', about: 'name or ID of the tenant', required: true, values: 'tenants' },
  utc: { flags: '--utc', about: 'print exact times in UTC' },
  q: { flags: '--q <words>', about: 'only items that contain all of these words' },
  limit: { flags: '--limit <count>', about: 'maximum number of items', fallback: '50' },
  yes: { flags: '--yes', about: "don't ask for confirmation" },
  json: { flags: '--json', about: 'print the result or the error as one JSON document' },
} as const satisfies Record<string, Parameter>;

/** Returns the options of a verb, including the ones that all verbs share. */
export function optionsOf({ options = [], plain = false }: Verb): readonly Parameter[] {
  return plain ? options : [...options, common.json];
}
