import { Priority } from '@itsm-api/contract';
import * as z from 'zod';
import { getResolutionTargets, ResolutionTargets, setResolutionTargets } from '../../../resources/tickets/due-date.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import { emptyAsNull, renderForm, submit, textField } from '../../ui/form-fields.ts';
import { html, section } from '../../ui/html.ts';

const path = '/developer/settings';

/** The schema of a target in a form. Converts text to a number, because browsers send numbers as text. */
const Target = emptyAsNull(
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), ResolutionTargets.shape.LOW),
);

/** The page on which an administrator changes the settings of the workspace. */
export const settings = page({
  path,
  menu: 'Settings',
  roles: ['ADMIN'],
  async show(request) {
    const targets = await getResolutionTargets(request.visit.context.db);
    const fields = (sent: FormState | undefined) =>
      html`${Priority.options.toReversed().map((priority) =>
        textField(sent, {
          name: priority,
          label: `${priority} (minutes)`,
          type: 'number',
          value: targets[priority],
        }),
      )}${submit('Save')}`;
    return {
      title: 'Settings',
      body: section(
        'Resolution targets',
        html`<p>A new ticket is due this many minutes after its creation, unless a request sets <code>dueAt</code>. If a
 priority has no target, leave the field empty. Existing tickets keep their due dates.</p>
${renderForm(request, 'targets', fields)}`,
      ),
    };
  },
  forms: {
    targets: form({
      fields: z.strictObject(
        Object.fromEntries(Priority.options.map((priority) => [priority, Target])) as Record<Priority, typeof Target>,
      ),
      audit: 'settings.updated',
      async run({ visit, fields }) {
        await setResolutionTargets(visit.context.db, fields);
        return { redirect: path, subject: 'resolution targets' };
      },
    }),
  },
});
