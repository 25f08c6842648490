import type { Command } from 'commander';
import type { NounName } from '../../administration/index.ts';

/** The kinds of values that the completions read from the database (completion-values.ts). */
export type CompletionKind = NounName | 'tenants' | 'users' | 'keys' | 'webhooks' | 'deliveries';

/** The description of an option or argument, for the parser, the help, the completions and the command reference. */
export interface Parameter {
  /** The parameter in Commander's syntax, such as `--asset-tag <tag>`, `<id>` or `[file]`. */
  flags: string;
  about?: string;
  /** Whether the option is required. */
  required?: boolean;
  /**
   * Whether the value is secret. Other users of the machine can see the arguments of a process, so the user can pass
   * `-` instead of a secret value, and enter the value on standard input.
   */
  secret?: boolean;
  /** The default value. */
  fallback?: string;
  /** The values that completions suggest for the parameter, or for each item of a comma-separated list. */
  values?: readonly string[] | CompletionKind;
}

/** The description of a command without its action. The command line loads actions on demand. */
export interface Verb {
  /** A one-line summary for command lists. It starts with an imperative and has no full stop. */
  summary: string;
  /** More text for the help, in full sentences. */
  details?: string;
  arguments?: readonly Parameter[];
  options?: readonly Parameter[];
  /** Example commands, without the program name. */
  examples: readonly string[];
  /** Whether the command can print only plain text. If true, the command has no `--json` option. */
  plain?: boolean;
}

/**
 * The function that runs a command. When Commander calls it, `this` is the command with the parsed arguments and
 * options.
 */
export type Action = (this: Command) => Promise<void>;

/**
 * A command with subcommands, such as `tenants`. Actions are loaded on demand, so the help doesn't load database code.
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

interface NounDefinition<Name extends string, Quick extends Name> {
  verbs: Record<Name, Verb>;
  actions: Actions<Exclude<Name, NoInfer<Quick>>>;
  /** Actions that need no database. They are in a separate module, because database code loads slowly. */
  withoutDatabase?: Actions<Quick>;
}

/** Creates a command with subcommands. The types require an action for each subcommand, with the same name. */
export function noun<Name extends string, Quick extends Name = never>(definition: NounDefinition<Name, Quick>): Noun {
  const { verbs, actions, withoutDatabase } = definition;
  return {
    verbs,
    async findAction(verb) {
      const quick: Partial<Record<string, Action>> = (await withoutDatabase?.()) ?? {};
      const all: Partial<Record<string, Action>> = verb in quick ? quick : await actions();
      return all[verb];
    },
  };
}

/** An entry of the command table. `load` imports the command's description on demand. */
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
  attachments: { flags: '--attachments <ids>', about: 'IDs of attachments to delete, separated by commas' },
  yes: { flags: '--yes', about: "don't ask for confirmation" },
  json: { flags: '--json', about: 'print the result or the error as one JSON document' },
} as const satisfies Record<string, Parameter>;

/** Returns the options of a command. Adds `--json` unless the command prints plain text. */
export function optionsOf({ options = [], plain = false }: Verb): readonly Parameter[] {
  return plain ? options : [...options, common.json];
}
