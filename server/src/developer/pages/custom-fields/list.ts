import * as z from 'zod';
import { listDefinitions } from '../../../resources/custom-fields/queries.ts';
import { page } from '../../framework/page.ts';
import { badge, html, linkButton, table } from '../../ui/html.ts';

const path = '/developer/custom-fields';

/** The page that lists the definitions of custom fields. */
export const fields = page({
  path,
  menu: 'Custom fields',
  roles: ['ADMIN'],
  query: z.strictObject({}),
  async show({ visit }) {
    const { data } = await listDefinitions(visit.context, { page: 1, perPage: 100 });
    const rows = data.map(({ resource, key, type, label, required, filterable, active, nonconforming }) => [
      html`<a href="${path}/${resource}/${key}">${key}</a>`,
      resource,
      label,
      type,
      required ? 'yes' : '',
      filterable ? 'yes' : '',
      active ? badge('active', 'good') : badge('inactive'),
      nonconforming === 0 ? '' : badge(String(nonconforming), 'warn'),
    ]);
    const headers = ['Key', 'Resource', 'Label', 'Type', 'Required', 'Filterable', 'Status', 'Nonconforming'];
    return {
      title: 'Custom fields',
      body: html`<p class="lead">The definitions of the custom fields of tickets and assets. Stored values that don't fit their
 definition are nonconforming. The server counts them every night.</p>
<p class="actions">${linkButton(`${path}/new`, 'New custom field', 'main')}</p>
${table('Custom fields', headers, rows, 'No custom fields are defined yet.')}`,
    };
  },
});
