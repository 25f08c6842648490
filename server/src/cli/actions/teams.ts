import { integerFromText, NewTeam, type Team, TeamPatch } from '@itsm-api/contract';
import * as z from 'zod';
import { findMemberIds, MemberList } from '../../resources/teams/member-list.ts';
import { createTeam, getTeam, listTeams, teamRows, updateTeam } from '../../resources/teams/queries.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import type { Action } from '../lib/command.ts';
import { exportAction } from '../lib/export.ts';
import { firstOf, Limit, moreHint } from '../lib/listing.ts';
import { activeLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

export const list = action({
  input: z.strictObject({ tenant: z.string(), limit: Limit }),
  work: async (runtime, { tenant, limit }) => {
    const context = await tenantContext(runtime, tenant);
    return firstOf(limit, (page) => listTeams(context, page));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'MEMBERS', 'STATUS', 'UPDATED'],
      found.map(({ id, name, memberIds, active, updatedAt }) => {
        return [id, name, memberIds.length, activeLabel(active), time(updatedAt)];
      }),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, id }) => getTeam(await tenantContext(runtime, tenant), id),
  format: ({ id, name, description, active, memberIds, createdAt, updatedAt }, { card, time }) =>
    card({
      ...{ id, name, description, status: activeLabel(active), 'member ids': memberIds.join(',') || null },
      created: time(createdAt),
      updated: time(updatedAt),
    }),
});

export const create = action({
  input: NewTeam.omit({ memberIds: true }).extend({ tenant: z.string(), members: MemberList.default([]) }),
  work: async (runtime, { tenant, members, ...team }) => {
    const context = await activeTenantContext(runtime, tenant);
    return createTeam(context, { ...team, memberIds: await findMemberIds(context, members) });
  },
  format: ({ id, name, memberIds }) => `Created the team ${name} (ID ${id}) with ${memberCount(memberIds)}.`,
});

export const update = action({
  input: updateInput(Named.shape, {
    ...TeamPatch.omit({ memberIds: true, active: true }).shape,
    members: MemberList.optional(),
  }),
  work: async (runtime, { tenant, id, members, ...patch }) => {
    const context = await tenantContext(runtime, tenant);
    return updateTeam(context, id, {
      ...patch,
      ...(members !== undefined && { memberIds: await findMemberIds(context, members) }),
    });
  },
  format: ({ id, name, memberIds }) => `Updated the team ${name} (ID ${id}) with ${memberCount(memberIds)}.`,
});

export const deactivate = setActiveAction(false);
export const activate = setActiveAction(true);

function setActiveAction(active: boolean): Action {
  return action({
    input: Named,
    work: async (runtime, { tenant, id }) => updateTeam(await tenantContext(runtime, tenant), id, { active }),
    format: ({ id, name, active }) => `The team ${name} (ID ${id}) is ${active ? 'active' : 'inactive'}.`,
  });
}

function memberCount({ length }: Team['memberIds']): string {
  return `${length} ${length === 1 ? 'member' : 'members'}`;
}

const exportRows = exportAction(teamRows);

export { exportRows as export };
