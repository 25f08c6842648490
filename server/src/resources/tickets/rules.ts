import type { NewTicket } from '@itsm-api/contract';
import { lockTenant } from '../../database/row-lock.ts';
import { invalidField } from '../../shared/errors.ts';
import type { CustomFieldRules } from '../custom-fields/rules.ts';
import { assertCustomFields, findRulesFor } from '../custom-fields/value-checks.ts';
import type { Context, Transaction } from '../shared/context.ts';
import { type ExternalIds, lockExternalIds, rejectTaken } from '../shared/external-ids.ts';
import { assertKnown, findKnown, type Known, type References } from '../shared/foreign-keys.ts';
import { assertChangePolicy, findChangePolicy } from './change-policy.ts';
import { selectParents } from './sql.ts';
import { type Change, collectReferences } from './ticket-change.ts';

/*
 * The rules for new tickets and changes that depend on other rows. Single and bulk requests check them in this order, so
 * an item of a bulk request gets the error that a single request gets.
 */

/** A new ticket. */
interface Creation {
  references: References;
  customFields: NewTicket['customFields'];
  isNew: true;
}

/** Returns what the rules check of a new ticket. @param authors the authors of its comments */
export function toCreation(input: NewTicket, authors: References['users'] = []): Creation {
  const { users, ...references } = collectReferences(input);
  return {
    references: { ...references, users: [...users, ...authors] },
    customFields: input.customFields,
    isNew: true,
  };
}

/** The data that the rules for some new tickets or changes depend on. */
interface TicketRules {
  known: Known;
  fields: CustomFieldRules | undefined;
  hasPolicy: boolean;
}

/** Looks up the data that the rules for new tickets or changes depend on. */
export async function findTicketRules(context: Context, given: readonly (Creation | Change)[]): Promise<TicketRules> {
  const references = given.map((each) => each.references);
  // Only new tickets can name inactive users, and a request has either new tickets or changes.
  const allowInactive = context.isImport === true && !given.some(isChange);
  return {
    known: await findKnown(context, references, { allowInactive }),
    fields: await findRulesFor(context, 'TICKET', given),
    hasPolicy: await findChangePolicy(context, given.filter(isChange)),
  };
}

/** Checks a new ticket or a change. @throws ApiError INVALID_REFERENCE, VALIDATION_ERROR, INVALID_TRANSITION */
export function assertTicketRules(
  context: Context,
  { known, fields, hasPolicy }: TicketRules,
  given: Creation | Change,
): void {
  assertKnown(given.references, known);
  assertCustomFields(fields, given, context);
  if (isChange(given)) assertChangePolicy(hasPolicy, given, context.now());
}

/** Looks up the rules for one new ticket or change, and checks it. @throws ApiError as `assertTicketRules` */
export async function checkTicketRules(context: Context, given: Creation | Change): Promise<TicketRules> {
  const rules = await findTicketRules(context, [given]);
  assertTicketRules(context, rules, given);
  return rules;
}

function isChange(given: Creation | Change): given is Change {
  return 'before' in given;
}

/** The data that the rules for changes depend on, and that is locked until the end of the transaction. */
interface LockedRules {
  /** Maps ticket ids to parent ids. Includes the new parents and all of their ancestors. */
  parents: Map<number, number>;
  /** The new external ids that tickets already have. */
  taken: ExternalIds;
}

/**
 * Locks the tenant's parents and external ids if changes set them. Without the locks, concurrent transactions could
 * create a cycle or a duplicate that neither transaction sees.
 */
export async function lockChangeRules(
  context: Context & Transaction,
  changes: readonly Change[],
): Promise<LockedRules> {
  const parentIds = changes.flatMap(({ references }) => references.tickets.map(({ id }) => id));
  if (parentIds.length > 0) await lockTenant(context.db, 'ticketParents');
  return {
    parents: parentIds.length > 0 ? await selectParents(context.db, parentIds) : new Map(),
    taken: await lockExternalIds(context, 'ticket', changes.map(newExternalId)),
  };
}

/**
 * Checks that a change creates no cycle of parents, and that no other ticket has its external id. Then adds its parent
 * and its external id to the rules, so that the checks of later changes consider them.
 * @throws ApiError VALIDATION_ERROR, EXTERNAL_ID_EXISTS
 */
export function assertChangeRules({ parents, taken }: LockedRules, change: Change): void {
  rejectCycle(change, parents);
  const externalId = newExternalId(change);
  rejectTaken('ticket', taken, externalId);
  const { id, parentId } = change.after;
  if (externalId != null) taken.set(externalId, id);
  if (parentId === null) parents.delete(id);
  else parents.set(id, parentId);
}

/** Returns the external id that a change sets, or undefined if it sets none. */
function newExternalId({ after, changes }: Change): string | null | undefined {
  return 'externalId' in changes ? after.externalId : undefined;
}

/** Rejects a change if the new parent is the ticket itself or one of its descendants. @throws ApiError */
function rejectCycle({ before, references }: Change, parents: LockedRules['parents']): void {
  const [parent] = references.tickets;
  const seen = new Set<number>();
  for (let id = parent?.id; id !== undefined && !seen.has(id); id = parents.get(id)) {
    if (id === before.id)
      throw invalidField('VALIDATION_ERROR', 'parentId', 'must not be the ticket itself or one of its descendants');
    seen.add(id);
  }
}
