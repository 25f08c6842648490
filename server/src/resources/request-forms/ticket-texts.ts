import type { CustomFields, CustomFieldType, Question } from '@itsm-api/contract';
import { formatFieldText } from '../custom-fields/field-text.ts';
import type { ResolvedForm } from './stored-form.ts';

/* Builds the title and the description of a ticket from the answers to the questions of a form. */

type Answered = Pick<ResolvedForm, 'name' | 'titleTemplate' | 'questions'>;

/** The types of the answers that a title can contain. */
export const titleTypes: readonly CustomFieldType[] = ['TEXT', 'NUMBER', 'DATE', 'BOOLEAN', 'SELECT'];

const [maxTitleLength, maxDescriptionBytes] = [255, 65_535];

/** Matches the name of an answer in braces, and single braces. */
const names = /\{([^{}]*)\}|[{}]/g;

/** Returns the names in the braces of a template. A name is undefined if a brace has no counterpart. */
export function namesIn(template: string): (string | undefined)[] {
  return [...template.matchAll(names)].map(([, name]) => name);
}

/** Returns the template with the answers, or the name of the form if it has no template or the result is empty. */
export function buildTitle({ name, titleTemplate, questions }: Answered, answers: CustomFields): string {
  const filled = (titleTemplate ?? '').replace(names, (_, key: string) => formatAnswer(questions, answers, key));
  const line = toOneLine(filled);
  // The limit of titles in requests also counts code points.
  const { length } = [...line].slice(0, maxTitleLength).join('');
  return cut(line, length).trim() || name;
}

/** Returns one line such as `Site: Berlin` for each answered question, or the name of the form if there is none. */
export function buildDescription({ name, questions }: Answered, answers: CustomFields): string {
  const answered = questions.filter(({ key }) => Object.hasOwn(answers, key));
  const lines = answered.map(({ key, label }) => toOneLine(`${label}: ${formatAnswer(questions, answers, key)}`));
  const text = lines.join('\n');
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxDescriptionBytes));
  return cut(text, read) || name;
}

/** Returns an answer as text, with the labels of options. Empty if the question is unknown or has no answer. */
function formatAnswer(questions: readonly Question[], answers: CustomFields, key: string): string {
  const question = questions.find((each) => each.key === key);
  const value = question && Object.hasOwn(answers, key) ? (answers[key] ?? '') : '';
  const labelOf = (each: unknown) => question?.options?.find((option) => option.value === each)?.label ?? each;
  return formatFieldText(Array.isArray(value) ? (value.map(labelOf) as typeof value) : (labelOf(value) as string));
}

/** Replaces each run of white space and control characters with one space. */
function toOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a text before the character at an index in UTF-16 code units. A character can have several code points. */
function cut(text: string, index: number): string {
  return text.slice(0, graphemes.segment(text).containing(index)?.index);
}
