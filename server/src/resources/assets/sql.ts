import type { Asset, Changes } from '@itsm-api/contract';
import { type Sql, sql, tenant } from '../../database/client/sql.ts';
import { rows } from '../../database/client/statements.ts';
import { type ActorIds, actorIdsOf } from '../../shared/actor.ts';
import { withEtag } from '../../shared/etag.ts';
import { insertActivity, shortened } from '../activities/record.ts';
import type { Context } from '../shared/context.ts';
import { writtenColumns } from '../shared/written-columns.ts';

/** The fields of an asset that a request sets. */
export type AssetRequestFields = Omit<Asset, 'id' | 'createdAt' | 'updatedAt' | 'etag'>;

/** The fields that a request can change, with their SQL types. */
const types = {
  name: sql`text`,
  serialNumber: sql`text`,
  type: sql`text`,
  status: sql`text`,
  manufacturer: sql`text`,
  model: sql`text`,
  location: sql`text`,
  assignedToId: sql`bigint`,
  purchaseDate: sql`date`,
  purchaseCost: sql`numeric`,
  warrantyExpiresAt: sql`timestamptz`,
  notes: sql`text`,
  externalId: sql`text`,
  tags: sql`text[]`,
  customFields: sql`jsonb`,
} satisfies Record<Exclude<keyof AssetRequestFields, 'assetTag'>, Sql>;
const changeable = writtenColumns(types);
const insertable = writtenColumns({ assetTag: sql`text`, ...types });

const insert = rows<{ assets: string; at: Date }, { id: bigint; assetTag: string; version: number }>(
  ({ assets, at }) => sql`
    INSERT INTO assets (tenant_id, created_at, updated_at, ${insertable.targets})
    SELECT ${tenant}::bigint, ${at}::timestamptz, ${at}::timestamptz, ${insertable.values}
    FROM json_to_recordset(${assets}::json) AS given (${insertable.definitions})
    ON CONFLICT DO NOTHING
    RETURNING id, asset_tag AS "assetTag", version`,
);

/**
 * Inserts assets in the given order, except assets whose tag or external id is already in use. Returns the new assets.
 */
export async function insertNew({ db }: Context, assets: readonly AssetRequestFields[]): Promise<Asset[]> {
  const at = new Date();
  const written = await db.$sql(insert, { assets: JSON.stringify(assets), at });
  // Of two assets with the same tag, the statement inserts the first one.
  const fields = new Map(assets.toReversed().map((asset) => [asset.assetTag, asset]));
  const times = { createdAt: at.toISOString(), updatedAt: at.toISOString() };
  return written.map(({ id, assetTag, version }) =>
    withEtag(version, { id: Number(id), ...(fields.get(assetTag) as AssetRequestFields), ...times }),
  );
}

/** The parameters of the update. `changed` contains the assets as JSON, each with its `changes`. */
interface Update extends ActorIds {
  ids: number[];
  changed: string;
  at: Date;
}

const update = rows<Update, { id: bigint; version: number }>(
  ({ ids, changed, at, userId, keyId }) => sql`WITH written AS (
    UPDATE assets SET ${changeable.assignments}, updated_at = ${at}::timestamptz
    FROM json_to_recordset(${changed}::json) AS given (id bigint, changes jsonb, ${changeable.definitions})
    WHERE tenant_id = ${tenant} AND assets.id = ANY (${ids}::bigint[]) AND assets.id = given.id
    RETURNING assets.id, version, changes
  ), activity AS (${insertActivity({
    resource: 'ASSET',
    action: 'UPDATED',
    rows: sql`written`,
    at: sql`${at}::timestamptz`,
    userId,
    keyId,
    changes: sql`changes`,
  })})
  SELECT id, version FROM written`,
);

/** An asset after a change, and the changed fields. */
export interface ChangedAsset {
  after: Asset;
  changes: Changes;
}

/** Updates locked assets, and records their activities. Returns the written assets in the given order. */
export async function writeChanges(context: Context, changed: readonly ChangedAsset[]): Promise<Asset[]> {
  if (changed.length === 0) return [];
  const at = new Date();
  const written = await context.db.$sql(update, {
    ids: changed.map(({ after }) => after.id),
    changed: JSON.stringify(changed.map(({ after, changes }) => ({ ...after, changes: shortened(changes) }))),
    ...{ at, ...actorIdsOf(context) },
  });
  const versions = new Map(written.map(({ id, version }) => [Number(id), version]));
  const updatedAt = at.toISOString();
  return changed.flatMap(({ after: { etag: _, ...after } }) => {
    const version = versions.get(after.id);
    return version === undefined ? [] : withEtag(version, { ...after, updatedAt });
  });
}
