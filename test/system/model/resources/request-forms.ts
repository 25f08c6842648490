import type { NewRequestForm, RequestFormSubmission, Team } from '@itsm-api/contract';
import type { Outcome } from './rows.ts';
import type { NewTicket } from './tickets.ts';
import type { References } from './users.ts';

/* Models request forms (docs/decisions/request-forms-design.md). */

/** The key of a form that is inactive in every workspace. */
export const retiredForm = 'retired';

/**
 * Returns the forms of a workspace, in the order of their keys. After their creation, `system.ts` deactivates the team
 * and the ticket category of the second form.
 */
export function newForms(teams: readonly Pick<Team, 'id' | 'name'>[], hasCategories: boolean): NewRequestForm[] {
  const contract = { key: 'contract', required: true, default: null, fixed: null, help: null };
  const owner = { ...contract, key: 'owner', required: false };
  const teamOf = (name: string) => teams.find((team) => team.name === name)?.id;
  const categoryOf = (id: string) => (hasCategories ? { categoryConfigId: id } : {});
  return [
    {
      ...{ key: 'laptop', name: 'Laptop', type: 'SERVICE_REQUEST', priority: 'HIGH', tags: ['vip'] },
      ...{ teamId: teamOf('Network'), ...categoryOf('cat-2'), titleTemplate: '{contract} for {owner}' },
      fields: [contract, { ...owner, default: 'mail' }],
    },
    {
      ...{ key: 'outage', name: 'Outage', type: 'INCIDENT', teamId: teamOf('Dissolved'), ...categoryOf('cat-3') },
      ...{ titleTemplate: '{contract}', fields: [{ ...owner, fixed: 'router' }, contract] },
    },
    { key: retiredForm, name: 'Retired', type: 'PROBLEM' },
  ];
}

/** Returns the request to create a ticket that has the same effect as a submitted form, or the expected error codes. */
export function toNewTicket(
  { type, priority, tags, category, categoryConfigId, teamId, titleTemplate, fields = [] }: NewRequestForm,
  { answers, ...given }: RequestFormSubmission,
  { isActiveTeam, isActiveCategory, refinedCategory }: References,
): Outcome<NewTicket> {
  const questions = fields.filter(({ fixed }) => fixed === null);
  const isAnswer = ([key, value]: [string, unknown]) =>
    typeof value === 'string' && questions.some((question) => question.key === key);
  const isMissing = questions.some(({ key, required }) => required && !(key in answers));
  if (isMissing || !Object.entries(answers).every(isAnswer)) return { codes: ['VALIDATION_ERROR'] };
  const presets = fields.map(({ key, default: value, fixed }) => [key, fixed ?? value] as const);
  const customFields = { ...Object.fromEntries(presets.filter(([, value]) => value !== null)), ...answers };
  const isRefined = categoryConfigId != null && isActiveCategory(categoryConfigId);
  const answered = questions.filter(({ key }) => key in customFields);
  return {
    row: {
      ...given,
      title: given.title ?? `${titleTemplate}`.replace(/\{(\w+)\}/g, (_, key: string) => `${customFields[key]}`),
      description: given.description ?? answered.map(({ key }) => `${key}: ${customFields[key]}`).join('\n'),
      ...{ type, priority, tags, customFields },
      category: category ?? (isRefined ? refinedCategory(categoryConfigId) : 'OTHER'),
      categoryConfigId: isRefined ? categoryConfigId : null,
      teamId: teamId != null && isActiveTeam(teamId) ? teamId : null,
    },
  };
}
