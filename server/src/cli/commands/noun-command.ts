import { Option } from 'commander';
import type { NounName } from '../../administration/index.ts';
import type { NounDeclaration, Verb as VerbName } from '../../administration/noun.ts';
import { withArticle } from '../../administration/noun-columns.ts';
import { fieldsOf, type RequestField } from '../../administration/noun-fields.ts';
import { common, type Noun, type Parameter, type Verb } from '../lib/command.ts';
import { exportVerb, importVerb, templateVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

/** Returns the command of a noun that administrators manage (server/src/administration). */
export function nounCommand(name: NounName, noun: NounDeclaration): Noun {
  const {
    one,
    shortOne = one,
    many,
    order,
    key,
    example,
    csvColumns,
    search,
    isShort = false,
    filters = [],
    verbs: words = {},
  } = noun;
  const fields = fieldsOf(noun);
  const a = withArticle(one);
  const chosenKey = fields.filter(({ name }) => key.includes(name)).map(toArgument);
  const named =
    key.length > 1
      ? chosenKey
      : [{ flags: `<${key[0]}>`, about: `${key[0] === 'key' ? 'key' : 'ID'} of the ${shortOne}`, values: name }];
  const inCreate = fields.filter(({ name, isInCreate }) => isInCreate && !key.includes(name));
  const inUpdate = fields.filter(({ name, isInUpdate }) => isInUpdate && name !== 'active');
  const optionNames = new Map(fields.map((field) => [new Option(toOption(field).flags).attributeName(), field.name]));
  const cleared = inUpdate.find(({ isNullable }) => isNullable);

  const verb = (verbName: VerbName, parts: Pick<Verb, 'summary'> & Partial<Verb>): Verb => {
    const { examples = [verbName === 'list' ? '' : example], details, ...own } = words[verbName] ?? {};
    const texts = [parts.details, details].filter((text) => text !== undefined);
    return {
      ...{ ...parts, ...own, ...(texts.length > 0 && { details: texts.join(' ') }) },
      options: [common.tenant, ...(parts.options ?? [])],
      examples: examples.map((call) => `${name} ${verbName} ${call}`.trim().replace(/(?= --)|$/, ' --tenant Acme')),
    };
  };

  return {
    verbs: {
      list: verb('list', {
        summary: `List the ${many} of a tenant, ${order}`,
        options: [
          ...filters.map((filter) => toFilter(filter, fields)),
          ...(search === undefined ? [] : [common.q]),
          ...(isShort ? [] : [common.limit]),
          common.utc,
        ],
      }),
      show: verb('show', { summary: `Show ${a}`, arguments: named, options: [common.utc] }),
      create: verb('create', {
        summary: `Create ${a}`,
        ...(chosenKey.length > 0 && { arguments: chosenKey }),
        options: inCreate.map((field) => ({ ...toOption(field), ...(field.isRequired && { required: true }) })),
      }),
      update: verb('update', {
        summary: `Update ${a}`,
        ...(cleared && { details: clearing.replace('--notes', toOption(cleared).flags.replace(/ .*/, '')) }),
        arguments: named,
        options: inUpdate.map(toOption),
      }),
      deactivate: verb('deactivate', { summary: `Deactivate ${a}`, arguments: named }),
      activate: verb('activate', { summary: `Reactivate ${a}`, arguments: named }),
      ...(csvColumns && { import: csvColumns(importVerb), template: csvColumns(templateVerb) }),
      // The change feed, which an export precedes, needs ids that the server assigns.
      ...(chosenKey.length === 0 && { export: exportVerb(name, { csv: csvColumns !== undefined }) }),
    },
    async findAction(verbName) {
      if (verbName === 'template' && csvColumns !== undefined) {
        const { csvTemplate } = await import('../../resources/csv/csv-columns.ts');
        return csvColumns((columns) => async () => void process.stdout.write(csvTemplate(columns)));
      }
      const { nounActions } = await import('../actions/noun-actions.ts');
      return (await nounActions(noun, { name, optionNames }))[verbName];
    },
  };
}

function toOption(field: RequestField): Parameter {
  const { name, option, about, choices, isBoolean, isDate = false, fallback, suggest } = field;
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const values = isBoolean ? ['true', 'false'] : choices;
  const placeholder = name === 'name' || values !== undefined ? kebab : isDate ? 'date' : 'text';
  const list = choices && choices.join(', ') + (fallback === undefined ? '' : ` (default: ${fallback})`);
  const texts = isDate ? ['date such as 2026-11-20'] : [isBoolean ? 'true or false' : undefined, about, list];
  return {
    flags: option ?? `--${kebab} <${placeholder}>`,
    about: texts.filter((text) => text !== undefined).join(': '),
    ...(suggest === undefined ? values && { values } : { values: suggest }),
  };
}

function toArgument({ name, about, choices }: RequestField): Parameter {
  return { flags: `<${name}>`, about: about ?? choices?.join(' or ') ?? '', ...(choices && { values: choices }) };
}

function toFilter(name: string, fields: readonly RequestField[]): Parameter {
  const { choices = [] } = fields.find((field) => field.name === name) ?? {};
  const about = `only ${choices.join(choices.length > 2 ? ', ' : ' or ')}`;
  return { flags: `--${name} <${name}>`, about, values: choices };
}
