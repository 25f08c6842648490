import { IdParam, NewProject, Priority, type Project, ProjectStatus } from '@itsm-api/contract';
import * as z from 'zod';
import { createProject, getProject, updateProject } from '../../../resources/projects/queries.ts';
import type { Context } from '../../../resources/shared/context.ts';
import { findUserId, getUser } from '../../../resources/users/queries.ts';
import { UserReference } from '../../../resources/users/user-reference.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import { emptyAsNull, renderForm, selectField, submit, textArea, textField, unixLines } from '../../ui/form-fields.ts';
import { facts, html, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/projects';
const roles = ['ADMIN'] as const;
const { shape } = NewProject;

const ProjectFields = z.strictObject({
  name: shape.name,
  description: emptyAsNull(unixLines(shape.description)),
  status: ProjectStatus,
  priority: Priority,
  managerId: emptyAsNull(UserReference.nullable()),
  startDate: emptyAsNull(shape.startDate),
  endDate: emptyAsNull(shape.endDate),
});

export const newProject = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const fields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'key', label: 'Key', hint: "Uppercase letters and digits. Must be unique in the workspace. You can't change it later.", required: true })}
${inputs(sent)}${submit('Create')}`;
    return {
      title: 'New project',
      body: html`<p><a href="${path}">All projects</a></p>${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: ProjectFields.extend({ key: shape.key }),
      audit: 'project.created',
      async run({ visit, fields }) {
        const managerId = await findUserId(visit.context, 'managerId', fields.managerId ?? undefined);
        return toResult(await createProject(visit.context, { ...fields, managerId }));
      },
    }),
  },
});

/** The page of a project. */
export const project = page({
  path: `${path}/:id`,
  roles,
  params: IdParam,
  async show(request) {
    const { visit, params } = request;
    const project = await getProject(visit.context, params.id);
    const manager = await getManager(visit.context, project);
    const fields = (sent: FormState | undefined) =>
      html`${etagField(project)}${inputs(sent, project, manager)}${submit('Save')}`;
    return {
      title: `${project.key}: ${project.name}`,
      body: html`<p><a href="${path}">All projects</a></p>
${facts({ ID: project.id, Created: visit.time(project.createdAt), Updated: visit.time(project.updatedAt) })}
${section('Details', renderForm(request, 'change', fields))}`,
    };
  },
  forms: {
    change: form({
      params: IdParam,
      fields: ProjectFields.extend({ etag: Etag }),
      audit: 'project.updated',
      async run({ visit, params, fields: { etag, ...fields } }) {
        const managerId = await findUserId(visit.context, 'managerId', fields.managerId ?? undefined);
        const patch = { ...fields, managerId };
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) => updateProject(context, params.id, patch)),
        );
      },
    }),
  },
});

function inputs(sent: FormState | undefined, project?: Project, manager?: string): SafeHtml {
  const { name, description, status = 'PLANNED', priority = 'MEDIUM', startDate, endDate } = project ?? {};
  return html`${textField(sent, { name: 'name', label: 'Name', value: name, required: true })}
${textArea(sent, { name: 'description', label: 'Description', value: description })}
${selectField(sent, { name: 'status', label: 'Status', value: status, options: ProjectStatus.options.map(option) })}
${selectField(sent, { name: 'priority', label: 'Priority', value: priority, options: Priority.options.map(option) })}
${textField(sent, { name: 'managerId', label: 'Manager', value: manager, hint: 'Email address or ID of an active user. Leave empty if there is no manager.' })}
${textField(sent, { name: 'startDate', label: 'Start date', type: 'date', value: startDate })}
${textField(sent, { name: 'endDate', label: 'End date', type: 'date', value: endDate })}`;
}

function option(value: string) {
  return { value, label: value };
}

function toResult({ id, key }: Project) {
  return { redirect: `${path}/${id}`, subject: key, target: { type: 'project', id } as const };
}

/**
 * Returns the value of the manager field: the email address of an active user, or the ID of an inactive user. The field
 * accepts only email addresses of active users.
 */
async function getManager(context: Context, { managerId }: Project): Promise<string> {
  if (managerId === null) return '';
  const { active, email } = await getUser(context, managerId);
  return active ? email : String(managerId);
}
