import { commands } from '../command-table.ts';
import type { Known, Parameter, Verb } from './command.ts';
import { optionsOf } from './command.ts';

/** What may be offered: the word, and what it means. */
type Offer = readonly [word: string, about: string];

/**
 * Prints what the last of the words may become, a line each: commands, options, values, and what the database knows.
 * Whatever goes wrong, it offers less: a completion that complains is worse than none.
 */
export async function complete(words: readonly string[]): Promise<void> {
  const last = words.at(-1) ?? '';
  const offers = await offersFor(words.slice(0, -1), last).catch(() => []);
  const found = offers.filter(([word]) => word.startsWith(last));
  process.stdout.write(found.map(([word, about]) => `${word}\t${about}\n`).join(''));
}

async function offersFor(before: readonly string[], last: string): Promise<readonly Offer[]> {
  const [name, ...rest] = before;
  if (name === undefined) return Object.entries(commands).map(([name, { summary }]) => [name, summary]);
  const loaded = await commands[name]?.load();
  if (loaded === undefined) return [];
  if ('verb' in loaded) return forVerb(loaded.verb, rest, last);
  const [verbName, ...given] = rest;
  if (verbName === undefined) return Object.entries(loaded.verbs).map(([name, { summary }]) => [name, summary]);
  const verb = loaded.verbs[verbName];
  return verb === undefined ? [] : forVerb(verb, given, last);
}

async function forVerb(verb: Verb, given: readonly string[], last: string): Promise<readonly Offer[]> {
  const options = optionsOf(verb);
  const named = (word: string | undefined) => options.find(({ flags }) => flags.split(' ')[0] === word);
  const pending = named(given.at(-1));
  if (pending?.flags.includes('<')) return valuesOf(pending, given, last);
  if (last.startsWith('-')) {
    return options
      .filter(({ flags }) => flags.includes('...') || !given.includes(flags.split(' ')[0] ?? ''))
      .map(({ flags, about = '' }) => [flags.split(' ')[0] ?? '', about]);
  }
  const positional = given.filter(
    (word, index) => !word.startsWith('-') && !named(given[index - 1])?.flags.includes('<'),
  );
  const argument = verb.arguments?.[positional.length];
  return argument === undefined ? [] : valuesOf(argument, given, last);
}

/** Of a list that is separated by commas, what may come after the last one. */
async function valuesOf({ values }: Parameter, given: readonly string[], last: string): Promise<readonly Offer[]> {
  if (values === undefined) return [];
  if (typeof values === 'string') return known(values, given);
  const before = last.slice(0, last.lastIndexOf(',') + 1);
  const has = before.split(',');
  return values.filter((value) => !has.includes(value)).map((value) => [before + value, '']);
}

async function known(what: Known, given: readonly string[]): Promise<readonly Offer[]> {
  const { completionValues: whatIsKnown } = await import('./completion-values.ts');
  const tenant = given[given.indexOf('--tenant') + 1];
  return whatIsKnown(what, given.includes('--tenant') ? tenant : undefined);
}
