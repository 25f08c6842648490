import { IdParam, NewTeam, type Team } from '@itsm-api/contract';
import * as z from 'zod';
import { findMemberIds, MemberList } from '../../../resources/teams/member-list.ts';
import { createTeam, getTeam, updateTeam } from '../../../resources/teams/queries.ts';
import { findUsersById } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import {
  checkbox,
  checked,
  emptyAsNull,
  renderForm,
  submit,
  textArea,
  textField,
  unixLines,
} from '../../ui/form-fields.ts';
import { facts, html, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/teams';
const roles = ['ADMIN'] as const;
const { name, description } = NewTeam.shape;

type Member = Awaited<ReturnType<typeof findUsersById>>[number];

const TeamFields = z.strictObject({
  name,
  description: emptyAsNull(unixLines(description)),
  memberIds: MemberList,
});

export const newTeam = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const fields = (sent: FormState | undefined) => html`${inputs(sent)}${submit('Create')}`;
    return {
      title: 'New team',
      body: html`<p><a href="${path}">All teams</a></p>${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: TeamFields,
      audit: 'team.created',
      async run({ visit, fields }) {
        const memberIds = await findMemberIds(visit.context, fields.memberIds);
        return toResult(await createTeam(visit.context, { ...fields, memberIds }));
      },
    }),
  },
});

/** The page of a team. */
export const team = page({
  path: `${path}/:id`,
  roles,
  params: IdParam,
  async show(request) {
    const { visit, params } = request;
    const team = await getTeam(visit.context, params.id);
    const members = await findUsersById(visit.context, team.memberIds);
    const fields = (sent: FormState | undefined) => html`${etagField(team)}${inputs(sent, team, members)}
${checkbox('active', 'yes', 'Active: requests can set this team as the team of a ticket', sent === undefined ? team.active : 'active' in sent.values)}
${submit('Save')}`;
    return {
      title: team.name,
      body: html`<p><a href="${path}">All teams</a></p>
${facts({ ID: team.id, Created: visit.time(team.createdAt), Updated: visit.time(team.updatedAt) })}
${section(`Members (${members.length})`, html`<ul>${members.map(renderMember)}</ul>`)}
${section('Details', renderForm(request, 'change', fields))}`,
    };
  },
  forms: {
    change: form({
      params: IdParam,
      fields: TeamFields.extend({ active: checked, etag: Etag }),
      audit: 'team.updated',
      async run({ visit, params, fields: { etag, ...fields } }) {
        const patch = { ...fields, memberIds: await findMemberIds(visit.context, fields.memberIds) };
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) => updateTeam(context, params.id, patch)),
        );
      },
    }),
  },
});

function inputs(sent: FormState | undefined, team?: Team, members: Member[] = []): SafeHtml {
  // The field accepts only email addresses of active users.
  const references = members.map(({ id, email, active }) => (active ? email : String(id)));
  return html`${textField(sent, { name: 'name', label: 'Name', value: team?.name, required: true })}
${textArea(sent, { name: 'description', label: 'Description', value: team?.description })}
${textArea(sent, { name: 'memberIds', label: 'Members', value: references.join('\n'), rows: 8, hint: 'Email addresses or IDs of active users, one per line.' })}`;
}

function renderMember({ id, name, active }: Member): SafeHtml {
  return html`<li><a href="/developer/users/${id}">${name}</a>${active ? '' : ' (inactive)'}</li>`;
}

function toResult({ id, name }: Team) {
  return { redirect: `${path}/${id}`, subject: name };
}
