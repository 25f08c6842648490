import { isDeepStrictEqual } from 'node:util';
import { type Asset, type CustomFieldDefinition, type CustomFields, IdParam, NewAsset } from '@itsm-api/contract';
import * as z from 'zod';
import { userConverter } from '../../../administration/user-converter.ts';
import { listAssetActivity } from '../../../resources/activities/queries.ts';
import { createAsset, getAsset, updateAsset } from '../../../resources/assets/queries.ts';
import { listCustomFieldDefinitions } from '../../../resources/custom-fields/queries.ts';
import type { Context } from '../../../resources/shared/context.ts';
import { findUserId } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import { activityTable } from '../../ui/activity-table.ts';
import { toPatch } from '../../ui/custom-fields.ts';
import { editableDefinitions, parseDefined, withDefinedFields } from '../../ui/defined-fields.ts';
import { PageNumber, perPage } from '../../ui/filtered-list.ts';
import { renderForm, submit, textField } from '../../ui/form-fields.ts';
import { facts, html, pager, section } from '../../ui/html.ts';
import { AssetFields, assetInputs, withoutDefined } from './fields.ts';

const path = '/developer/assets';
const roles = ['ADMIN'] as const;

export const newAsset = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const definitions = await findEditable(request.visit.context);
    const fields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'assetTag', label: 'Asset tag', hint: "Must be unique in the workspace. You can't change it later.", required: true })}
${assetInputs(sent, { definitions })}${submit('Create')}`;
    return {
      title: 'New asset',
      body: html`<p><a href="${path}">All assets</a></p>${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: withDefinedFields(AssetFields.extend({ assetTag: NewAsset.shape.assetTag })),
      audit: 'asset.created',
      async run({ visit, fields: { definedFields, customFields: lines, ...fields } }) {
        const assignedToId = await findUserId(visit.context, 'assignedToId', fields.assignedToId ?? undefined);
        const defined = parseDefined(await findEditable(visit.context), definedFields);
        const filled = Object.entries(defined).filter(([, value]) => value !== null);
        const customFields = { ...Object.fromEntries(filled), ...lines };
        return toResult(await createAsset(visit.context, { ...fields, assignedToId, customFields }));
      },
    }),
  },
});

/** The page of an asset, with its fields and its activity. */
export const asset = page({
  path: `${path}/one`,
  roles,
  params: IdParam,
  hasParamsInQuery: true,
  query: z.object({ page: PageNumber }),
  async show(request) {
    const { visit, params, query, address } = request;
    const asset = await getAsset(visit.context, params.id);
    const holder = await userConverter('assignedToId').toText(visit.context, asset);
    const definitions = await findEditable(visit.context, asset);
    const activity = await listAssetActivity(visit.context, params.id, { page: query.page, perPage });
    const fields = (sent: FormState | undefined) =>
      html`${etagField(asset)}${assetInputs(sent, { definitions, asset, holder })}${submit('Save')}`;
    return {
      title: `${asset.assetTag}: ${asset.name}`,
      body: html`<p><a href="${path}">All assets</a></p>
${facts({ ID: asset.id, Created: visit.time(asset.createdAt), Updated: visit.time(asset.updatedAt) })}
${section('Details', renderForm(request, 'change', fields))}
${section('Activity', html`${await activityTable(visit, activity.data)}${pager(activity.meta, address)}`)}`,
    };
  },
  forms: {
    change: form({
      params: IdParam,
      fields: withDefinedFields(AssetFields.extend({ etag: Etag })),
      audit: 'asset.updated',
      async run({ visit, params, fields: { etag, status, customFields: lines, definedFields, ...fields } }) {
        const before = await getAsset(visit.context, params.id);
        const assignedToId = await findUserId(visit.context, 'assignedToId', fields.assignedToId ?? undefined);
        const definitions = await findEditable(visit.context, before);
        const patch = {
          ...fields,
          assignedToId,
          customFields: {
            ...changesOf(before.customFields, parseDefined(definitions, definedFields)),
            ...toPatch(withoutDefined(before.customFields, definitions), lines),
          },
          // Omits the status if it hasn't changed, so the server can derive a new status from the assignee.
          ...(status !== before.status && { status }),
        };
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) => updateAsset(context, params.id, patch)),
        );
      },
    }),
  },
});

/** Returns the custom fields that have their own inputs in the form of an asset. */
async function findEditable(context: Context, asset?: Asset): Promise<CustomFieldDefinition[]> {
  const { data } = await listCustomFieldDefinitions(context, { page: 1, perPage: 100, resource: ['ASSET'] });
  return editableDefinitions(data, asset?.customFields ?? {});
}

function changesOf(before: CustomFields, defined: CustomFields): CustomFields {
  const changed = Object.entries(defined).filter(([key, value]) => !isDeepStrictEqual(before[key] ?? null, value));
  return Object.fromEntries(changed);
}

function toResult({ id, assetTag }: Asset) {
  return { redirect: `${path}/one?id=${id}`, subject: assetTag, target: { type: 'asset', id } as const };
}
