import { NewAsset } from '@itsm-api/contract';
import type * as z from 'zod';
import { UserReference } from '../users/reference.ts';

/** An asset as a line of the file gives it. */
export const AssetLine = NewAsset.extend({ assignedToId: UserReference.nullish() });
export type AssetLine = z.output<typeof AssetLine>;

/** The columns that a file may have, beside those of custom fields. */
export const assetColumns = AssetLine.omit({ customFields: true }).keyof().options;
export const neededAssetColumns = ['name', 'assetTag', 'type'];
