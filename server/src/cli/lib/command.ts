import type { Command } from 'commander';

/** A kind of value that completions read from the database (completion-values.ts). */
export type CompletionKind = 'tenants' | 'users' | 'keys' | 'webhooks' | 'projects' | 'assets' | 'deliveries';

/** The description of an option or argument. The parser, help, completions and command reference use it. */
export interface Parameter {
  /** The syntax of Commander, such as `--asset-tag <tag>`, `<id>` or `[file]`. */
  flags: string;
  about?: string;
  /** Whether the option is mandatory. */
  required?: boolean;
  /**
   * Whether the value is secret. If so, the user can pass `-` and enter the value on standard input, because other
   * users of the machine can see the arguments of a process.
   */
  secret?: boolean;
  /** The default value. */
  fallback?: string;
  /** The values that completions offer, for a single value and for each item of a comma-separated list. */
  values?: readonly string[] | CompletionKind;
}

/** The description of a command without its action. Actions are loaded on demand. */
export interface Verb {
  /** A summary in one line for lists. Starts with an imperative and has no full stop. */
  summary: string;
  /** Further paragraphs for the help, with full stops. */
  details?: string;
  arguments?: readonly Parameter[];
  options?: readonly Parameter[];
  /** Example calls, without the name of the program. */
  examples: readonly string[];
  /**
   * Whether the command prints plain text instead of a result. Such a command doesn't have the common option `--json`.
   */
  plain?: boolean;
}

/** The function that runs a command. Commander has parsed the arguments and options, and sets `this` to the command. */
export type Action = (this: Command) => Promise<void>;

/**
 * A command with subcommands, such as `tenants list`. Actions are loaded on demand, so help doesn't load database code.
 */
export interface Noun {
  verbs: Readonly<Record<string, Verb>>;
  findAction(verb: string): Promise<Action | undefined>;
}

/** A command without subcommands, such as `migrate`. */
export interface Single {
  verb: Verb;
  actions(): Promise<{ run: Action }>;
}

type Actions<Name extends string> = () => Promise<Readonly<Record<Name, Action>>>;

interface Given<Name extends string, Quick extends Name> {
  verbs: Record<Name, Verb>;
  actions: Actions<Exclude<Name, NoInfer<Quick>>>;
  /** Actions that need no database. These actions are in a separate module, because the database code loads slowly. */
  withoutDatabase?: Actions<Quick>;
}

/** Creates a command with subcommands. The types require an action of the same name for each subcommand. */
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

/** An entry of the command table. `load` imports the description of the command on demand. */
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

/** Returns the options of a command, including `--json`, which all commands without `plain` have. */
export function optionsOf({ options = [], plain = false }: Verb): readonly Parameter[] {
  return plain ? options : [...options, common.json];
}
