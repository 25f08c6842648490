import type { CompletionKind, Entry, Parameter, Verb } from './command.ts';
import { optionsOf } from './command.ts';

/** A suggested word and its description. */
type Completion = readonly [word: string, about: string];

/** All commands, by name. */
type Commands = Readonly<Record<string, Entry>>;

/**
 * Prints the completions of the last word (commands, options or values), one per line. Ignores errors, because the
 * terminal would show an error message inside the command line that the user is typing.
 */
export async function complete(commands: Commands, words: readonly string[]): Promise<void> {
  const last = words.at(-1) ?? '';
  const completions = await findCompletions(commands, words.slice(0, -1), last).catch(() => []);
  const found = completions.filter(([word]) => word.startsWith(last));
  process.stdout.write(found.map(([word, about]) => `${word}\t${about}\n`).join(''));
}

async function findCompletions(
  commands: Commands,
  before: readonly string[],
  last: string,
): Promise<readonly Completion[]> {
  const [name, ...rest] = before;
  if (name === undefined) return Object.entries(commands).map(([name, { summary }]) => [name, summary]);
  const loaded = await commands[name]?.load();
  if (loaded === undefined) return [];
  if ('verb' in loaded) return completeVerb(loaded.verb, rest, last);
  const [verbName, ...given] = rest;
  if (verbName === undefined) return Object.entries(loaded.verbs).map(([name, { summary }]) => [name, summary]);
  const verb = loaded.verbs[verbName];
  return verb === undefined ? [] : completeVerb(verb, given, last);
}

async function completeVerb(verb: Verb, given: readonly string[], last: string): Promise<readonly Completion[]> {
  const options = optionsOf(verb);
  const findOption = (word: string | undefined) => options.find(({ flags }) => flags.split(' ')[0] === word);
  const pending = findOption(given.at(-1));
  if (pending?.flags.includes('<')) return completeValue(pending, given, last);
  if (last.startsWith('-')) {
    return options
      .filter(({ flags }) => flags.includes('...') || !given.includes(flags.split(' ')[0] ?? ''))
      .map(({ flags, about = '' }) => [flags.split(' ')[0] ?? '', about]);
  }
  const positional = given.filter(
    (word, index) => !word.startsWith('-') && !findOption(given[index - 1])?.flags.includes('<'),
  );
  const argument = verb.arguments?.[positional.length];
  return argument === undefined ? [] : completeValue(argument, given, last);
}

/**
 * Returns the completions of a parameter value. In a comma-separated list, completes the last item. Omits items that
 * the list already contains.
 */
async function completeValue(
  { values }: Parameter,
  given: readonly string[],
  last: string,
): Promise<readonly Completion[]> {
  if (values === undefined) return [];
  if (typeof values === 'string') return completeFromDatabase(values, given);
  const before = last.slice(0, last.lastIndexOf(',') + 1);
  const has = before.split(',');
  return values.filter((value) => !has.includes(value)).map((value) => [before + value, '']);
}

async function completeFromDatabase(kind: CompletionKind, given: readonly string[]): Promise<readonly Completion[]> {
  const { completionValues } = await import('./completion-values.ts');
  const tenant = given[given.indexOf('--tenant') + 1];
  return completionValues(kind, given.includes('--tenant') ? tenant : undefined);
}
