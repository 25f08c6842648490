import {
  type CustomFields,
  maxCustomFieldBytes,
  type NewTicket,
  type Question,
  type RequestFormSubmission,
  type Ticket,
} from '@itsm-api/contract';
import { invalidField, notFound } from '../../shared/errors.ts';
import { nearestName } from '../../shared/suggestion.ts';
import { detailsOf, validationError } from '../../shared/validation.ts';
import type { UserContext } from '../shared/context.ts';
import { checkReferences } from '../shared/foreign-keys.ts';
import { collectReferences } from '../tickets/ticket-change.ts';
import { newRow, writeOne } from '../tickets/ticket-creation.ts';
import { findAnswerFault, findForm, type ResolvedForm } from './stored-form.ts';
import { buildDescription, buildTitle } from './ticket-texts.ts';

/**
 * Creates a ticket from the answers to the questions of a form, like `createTicket` (docs/decisions/request-forms-design.md).
 * The sender can't change the team, the ticket category and the definitions. Therefore, one statement reads them with
 * the form, and nothing checks them again. Import keys get no exceptions.
 * @throws ApiError NOT_FOUND, VALIDATION_ERROR, INVALID_REFERENCE, EXTERNAL_ID_EXISTS
 */
export async function submitForm(
  context: UserContext,
  key: string,
  { answers, ...given }: RequestFormSubmission,
): Promise<Ticket> {
  const form = await findForm(context.db, key);
  if (!form?.active) throw notFound('request form', 'key');
  const customFields = toCustomFields(form, answers);
  const { type, priority, tags } = form;
  const routing = {
    category: form.category ?? form.refinedCategory ?? (form.hasActiveCategory ? null : ('OTHER' as const)),
    categoryConfigId: form.hasActiveCategory ? form.categoryConfigId : null,
    teamId: form.hasActiveTeam ? form.teamId : null,
  };
  const texts = {
    title: given.title ?? buildTitle(form, customFields),
    description: given.description ?? buildDescription(form, customFields),
  };
  const asAnyKey = { ...context, isImport: false };
  const input: NewTicket = { ...given, ...texts, ...routing, type, priority, tags, customFields };
  const references = collectReferences({ ...input, teamId: null, categoryConfigId: null });
  const known = await checkReferences(asAnyKey, references);
  return writeOne(asAnyKey, input.externalId, () => ({ ...newRow(asAnyKey, input, known), formKey: key }));
}

/**
 * Returns the custom fields of the ticket: the answers, the defaults of absent answers, and the fixed values.
 * @throws ApiError VALIDATION_ERROR with a detail for each invalid or missing answer
 */
function toCustomFields({ questions, fixedValues }: ResolvedForm, answers: CustomFields): CustomFields {
  const ofKey = new Map(questions.map((question) => [question.key, question]));
  const problems = Object.entries(answers).flatMap(([key, value]) => {
    const question = ofKey.get(key);
    const message = question === undefined ? describeUnknown(key, questions) : findFault(question, value);
    return message === undefined ? [] : [{ key, message }];
  });
  const isMissing = ({ key, required }: Question) => required && !Object.hasOwn(answers, key);
  const missing = questions.filter(isMissing).map(({ key }) => ({ key, message: 'is required' }));
  reject([...problems, ...missing]);
  const defaults = questions.flatMap(({ key, default: value }) => (value === null ? [] : [[key, value]]));
  const customFields: CustomFields = { ...Object.fromEntries(defaults), ...answers, ...fixedValues };
  if (Buffer.byteLength(JSON.stringify(customFields)) > maxCustomFieldBytes) {
    throw invalidField('VALIDATION_ERROR', 'answers', 'are too long for the custom fields of a ticket. Shorten them.');
  }
  return customFields;
}

function findFault(question: Question, value: unknown): string | undefined {
  return value === null ? 'must not be null. Remove it if there is no answer.' : findAnswerFault(question, value);
}

function describeUnknown(key: string, questions: readonly Question[]): string {
  const names = questions.map((question) => question.key);
  const nearest = nearestName(key, names);
  return `is not a question of this form. ${nearest === undefined ? 'Remove it.' : `Did you mean \`${nearest}\`?`}`;
}

function reject(problems: { key: string; message: string }[]): void {
  if (problems.length === 0) return;
  const issues = problems.map(({ key, message }) => ({ path: ['answers', key], message }));
  throw validationError(detailsOf(issues, ''));
}
