import {
  type Asset,
  AssetStatus,
  AssetType,
  type CustomFieldDefinition,
  type CustomFields,
  NewAsset,
} from '@itsm-api/contract';
import * as z from 'zod';
import { TagText } from '../../../resources/shared/tags.ts';
import { UserReference } from '../../../resources/users/user-reference.ts';
import type { FormState } from '../../framework/page.ts';
import { CustomFieldLines, renderOtherFields, toLines } from '../../ui/custom-fields.ts';
import { DefinedFields, definedInputs } from '../../ui/defined-fields.ts';
import { emptyAsNull, optional, selectField, textArea, textField, unixLines } from '../../ui/form-fields.ts';
import { html, type SafeHtml } from '../../ui/html.ts';

const { shape } = NewAsset;

/** Converts a date to a timestamp at the start of that day in UTC. */
const moment = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;

/** The schema of the forms that create or change an asset. */
export const AssetFields = z.strictObject({
  name: shape.name,
  type: AssetType,
  status: optional(AssetStatus),
  assignedToId: emptyAsNull(UserReference.nullable()),
  serialNumber: emptyAsNull(shape.serialNumber),
  manufacturer: emptyAsNull(shape.manufacturer),
  model: emptyAsNull(shape.model),
  location: emptyAsNull(shape.location),
  purchaseDate: emptyAsNull(shape.purchaseDate),
  purchaseCost: emptyAsNull(shape.purchaseCost),
  warrantyExpiresAt: emptyAsNull(z.preprocess(moment, shape.warrantyExpiresAt)),
  notes: emptyAsNull(unixLines(shape.notes)),
  tags: TagText,
  customFields: CustomFieldLines,
  definedFields: DefinedFields,
});

/**
 * Renders the form fields of an asset.
 * @param definitions the custom fields that have their own inputs
 * @param holder the assignee's email address or ID
 */
export function assetInputs(
  sent: FormState | undefined,
  { definitions, asset, holder }: { definitions: readonly CustomFieldDefinition[]; asset?: Asset; holder?: string },
): SafeHtml {
  const { name, type, status, serialNumber, manufacturer, model, location, notes, tags } = asset ?? {};
  const others = withoutDefined(asset?.customFields ?? {}, definitions);
  const automatic = { value: '', label: 'Automatic: IN_USE if assigned, otherwise IN_STOCK' };
  const statuses = AssetStatus.options.map(option);
  return html`${textField(sent, { name: 'name', label: 'Name', value: name, required: true })}
${selectField(sent, { name: 'type', label: 'Type', value: type, options: AssetType.options.map(option) })}
${selectField(sent, { name: 'status', label: 'Status', value: status, options: asset ? statuses : [automatic, ...statuses] })}
${textField(sent, { name: 'assignedToId', label: 'Assigned to', value: holder, hint: 'Email address or ID of an active user. Leave empty if unassigned.' })}
<div class="pairs">${textField(sent, { name: 'serialNumber', label: 'Serial number', value: serialNumber })}
${textField(sent, { name: 'manufacturer', label: 'Manufacturer', value: manufacturer })}
${textField(sent, { name: 'model', label: 'Model', value: model })}
${textField(sent, { name: 'location', label: 'Location', value: location })}
${textField(sent, { name: 'purchaseDate', label: 'Purchase date', type: 'date', value: asset?.purchaseDate })}
${textField(sent, { name: 'purchaseCost', label: 'Purchase cost', value: asset?.purchaseCost, hint: 'A decimal number, such as 1499.00.' })}
${textField(sent, { name: 'warrantyExpiresAt', label: 'Warranty expires', value: day(asset?.warrantyExpiresAt), hint: 'A date such as 2028-03-14, or a time such as 2028-03-14T12:00:00Z.' })}</div>
${textArea(sent, { name: 'notes', label: 'Notes', value: notes })}
${textField(sent, { name: 'tags', label: 'Tags', value: tags?.join(', '), hint: 'Separated by commas, such as leased, front-desk.' })}
${definedInputs(sent, definitions, asset?.customFields)}
${textArea(sent, { name: 'customFields', label: definitions.length > 0 ? 'Other custom fields' : 'Custom fields', value: toLines(others), hint: 'One field per line, such as costCentre = CC-104.' })}
${renderOtherFields(others)}`;
}

/** Returns the custom fields that have no input of their own. */
export function withoutDefined(fields: CustomFields, definitions: readonly CustomFieldDefinition[]): CustomFields {
  const others = Object.entries(fields).filter(([name]) => definitions.every(({ key }) => key !== name));
  return Object.fromEntries(others);
}

function option(value: string) {
  return { value, label: value };
}

function day(moment: string | null | undefined): string | null | undefined {
  return moment?.replace(/T00:00:00\.000Z$/, '');
}
