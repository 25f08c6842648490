import pg from 'pg';
import { setTenant } from './connection.ts';

/** What pg's queries do that its types leave out. */
interface WireQuery {
  queryMode: 'extended';
  prepare(connection: pg.Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => pg.Query & WireQuery;

/**
 * A statement with its tenant, which row-level security asks for: both are sent at once and ended by one Sync, so they
 * are one transaction. The setting is gone with it; where it fails, the statement is not run
 * (PostgreSQL, "Extended Query Protocol", on pipelining).
 */
export class TenantQuery extends Query {
  readonly #tenantId: bigint;
  #isTenantSet = false;

  constructor(config: pg.QueryConfig, tenantId: bigint) {
    super(config);
    this.queryMode = 'extended';
    this.#tenantId = tenantId;
  }

  override prepare(connection: pg.Connection): void {
    const wire = connection as unknown as { bind(message: object): void; execute(message: object): void };
    wire.bind({ statement: setTenant, values: [String(this.#tenantId)] });
    wire.execute({});
    super.prepare(connection);
  }

  // The first row and the first completion are those of the setting.
  override handleDataRow(message: unknown): void {
    if (this.#isTenantSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#isTenantSet) super.handleCommandComplete(message, connection);
    this.#isTenantSet = true;
  }
}
