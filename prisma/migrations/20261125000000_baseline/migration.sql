-- The baseline of the schema: roles, tables, row-level security, rights, triggers, full-text search, and job queues, in
-- this order. Later migrations change this schema. test/rules/catalog.txt lists all objects of a migrated database.

-- =============================================================================
-- Roles
--
-- Each connection sets one of two roles with SET ROLE (docs/decisions/tenant-isolation.md). itsm_request sees the rows
-- of one tenant, and itsm_system sees all rows. All databases of a server share their roles, so another database may
-- have created the roles already.
-- =============================================================================

DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['itsm_request', 'itsm_system'] LOOP
    IF to_regrole(role) IS NULL THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT', role);
    END IF;
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE EXCEPTION USING
    ERRCODE = 'insufficient_privilege',
    MESSAGE = format('The role %I can''t create the roles itsm_request and itsm_system. Have an administrator run: '
      'CREATE ROLE itsm_request NOLOGIN NOINHERIT; CREATE ROLE itsm_system NOLOGIN NOINHERIT; '
      'GRANT itsm_request, itsm_system TO %1$I;', current_user);
END
$$;

-- =============================================================================
-- Tables
--
-- Each tenant-owned table has the primary key (tenant_id, id). Each foreign key, unique index and index starts with
-- tenant_id, so that a row can't refer to a row of another tenant. A comment explains each exception. tenant_id has the
-- default 0, which no tenant has. An INSERT without a tenant therefore violates the foreign key or the policy of its
-- table.
--
-- Columns with a fixed set of values are text with a CHECK. They have the collation C, because its comparisons are
-- cheaper and leakproof. With leakproof comparisons, conditions can use an index in spite of row-level security.
-- =============================================================================

-- Tenants and users ------------------------------------------------------------

-- A workspace. name_key is the normalized name, which makes names unique regardless of case.
CREATE TABLE tenants (
  id bigserial PRIMARY KEY,
  name text NOT NULL,
  name_key text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX tenants_name_key_key ON tenants (name_key);

-- The email address is in lower case. The index on email alone finds a person's accounts in all tenants at sign-in.
CREATE TABLE users (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  name text NOT NULL,
  email text NOT NULL,
  role text COLLATE "C" NOT NULL CHECK (role IN ('ADMIN', 'AGENT', 'REQUESTER')),
  active boolean NOT NULL DEFAULT true,
  job_title text,
  department text,
  phone text,
  time_zone text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON users (email);
CREATE INDEX ON users (tenant_id, active, id DESC);
CREATE INDEX ON users (tenant_id, role, id DESC);
CREATE UNIQUE INDEX users_tenant_id_email_key ON users (tenant_id, email);

-- hash is the SHA-256 hash of the key. It is unique over all tenants, because the server looks up a key before it knows
-- the tenant. rotated_from is the key that this key replaces.
CREATE TABLE api_keys (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  user_id bigint NOT NULL,
  rotated_from bigint,
  name text NOT NULL,
  hash bytea NOT NULL,
  last_four text NOT NULL,
  scopes text[],
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, rotated_from) REFERENCES api_keys ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON api_keys (tenant_id, user_id);
CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);

-- Sign-in to the developer area ------------------------------------------------

-- A sign-in link that works once. If demo is true, it is the link of the demo workspace, which works only on the
-- machine of the server.
CREATE TABLE invitations (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  user_id bigint NOT NULL,
  hash bytea NOT NULL,
  demo boolean NOT NULL DEFAULT false,
  expires_at timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON invitations (tenant_id, user_id);
CREATE UNIQUE INDEX invitations_tenant_id_hash_key ON invitations (tenant_id, hash);

-- hash is an argon2id hash as a PHC string.
CREATE TABLE passwords (
  tenant_id bigint NOT NULL DEFAULT 0,
  user_id bigint NOT NULL,
  hash text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);

CREATE TABLE passkeys (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  user_id bigint NOT NULL,
  credential_id bytea NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL DEFAULT 0,
  transports text[],
  name text NOT NULL,
  last_used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON passkeys (tenant_id, user_id);
CREATE UNIQUE INDEX passkeys_tenant_id_credential_id_key ON passkeys (tenant_id, credential_id);

-- hash is the SHA-256 hash of the token in the cookie.
CREATE TABLE sessions (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  user_id bigint NOT NULL,
  hash bytea NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL,
  flash text,
  last_seen_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ended_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON sessions (tenant_id, user_id);
CREATE UNIQUE INDEX sessions_tenant_id_hash_key ON sessions (tenant_id, hash);

-- The number of failed sign-ins for an address or account. counted is the SHA-256 hash of the address or account. The
-- rows belong to no tenant, because the tenant is unknown before the sign-in.
CREATE TABLE sign_in_failures (
  counted bytea PRIMARY KEY,
  failures integer NOT NULL,
  since timestamptz(3) NOT NULL
);
CREATE INDEX ON sign_in_failures (since);

-- Challenges that passkeys have signed. The server rejects a challenge that is used again. The rows belong to no
-- tenant, because the tenant is unknown before the sign-in.
CREATE TABLE used_challenges (
  challenge text PRIMARY KEY,
  used_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX ON used_challenges (used_at);

-- Actions in the developer area and on the command line. The table has no foreign keys, because entries outlive the
-- rows that they refer to.
CREATE TABLE audit_entries (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  user_id bigint,
  action text NOT NULL,
  subject text,
  address text NOT NULL,
  user_agent text NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX ON audit_entries (tenant_id, action, id DESC);
CREATE INDEX ON audit_entries (tenant_id, user_id, id DESC);

-- Tickets ----------------------------------------------------------------------

-- Checks the values of four columns of tickets. It is a function, because PostgreSQL would parse the lists of a CHECK
-- again for every statement: four lists took 50 µs per write. To add a value, replace this function. PostgreSQL then
-- doesn't check the existing rows again.
CREATE FUNCTION has_known_values(type text, status text, priority text, category text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN type IN ('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST')
    AND status IN ('OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED')
    AND priority IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')
    AND category IN ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER');
END
$$;

-- ordinal is the position of the ticket in its tenant, starting at 1. Ordinals have the order of ids and no gaps,
-- because tickets are never deleted. number is the position among the tenant's tickets of the same type. The ticket
-- number consists of the prefix of the type and this number. A trigger increments version, which is part of the ETag.
CREATE TABLE tickets (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  type text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  number integer NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'OPEN',
  priority text COLLATE "C" NOT NULL DEFAULT 'MEDIUM',
  category text COLLATE "C",
  category_config_id text,
  requester_id bigint NOT NULL,
  assignee_id bigint,
  parent_id bigint,
  custom_fields jsonb NOT NULL DEFAULT '{}',
  resolution text,
  resolved_at timestamptz(3),
  closed_at timestamptz(3),
  comment_count integer NOT NULL DEFAULT 0,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT tickets_values_check CHECK (has_known_values(type, status, priority, category)),
  FOREIGN KEY (tenant_id, assignee_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, parent_id) REFERENCES tickets ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, requester_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX tickets_assignee_kind_idx ON tickets (tenant_id, assignee_id, status, priority, type, category, id DESC);
CREATE INDEX tickets_kind_idx ON tickets (tenant_id, status, priority, type, category, id DESC);
CREATE INDEX ON tickets (tenant_id, assignee_id, id DESC);
CREATE INDEX ON tickets (tenant_id, category, id DESC);
CREATE INDEX ON tickets (tenant_id, created_at DESC, id DESC);
CREATE INDEX ON tickets (tenant_id, parent_id);
CREATE INDEX ON tickets (tenant_id, priority, id DESC);
CREATE INDEX ON tickets (tenant_id, requester_id, id DESC);
CREATE INDEX ON tickets (tenant_id, status, id DESC);
CREATE INDEX ON tickets (tenant_id, type, id DESC);
CREATE UNIQUE INDEX tickets_tenant_id_ordinal_key ON tickets (tenant_id, ordinal);
CREATE UNIQUE INDEX tickets_tenant_id_type_number_key ON tickets (tenant_id, type, number);

CREATE TABLE ticket_watchers (
  tenant_id bigint NOT NULL DEFAULT 0,
  ticket_id bigint NOT NULL,
  user_id bigint NOT NULL,
  PRIMARY KEY (tenant_id, ticket_id, user_id),
  FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON ticket_watchers (tenant_id, user_id, ticket_id DESC);

CREATE TABLE comments (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  ticket_id bigint NOT NULL,
  author_id bigint NOT NULL,
  body text NOT NULL,
  visibility text COLLATE "C" NOT NULL CHECK (visibility IN ('PUBLIC', 'INTERNAL')),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, author_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON comments (tenant_id, ticket_id, id DESC);

-- Changes of tickets and assets. The primary key also finds the activities of one resource, so that a write updates
-- only one index. The table has no CHECK, because a CHECK would double the cost of an INSERT. Only one function of the
-- server writes the rows.
CREATE TABLE activities (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  resource text COLLATE "C" NOT NULL,
  resource_id bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  at timestamptz(3) NOT NULL,
  actor_user_id bigint,
  actor_key_id bigint,
  changes jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, resource, resource_id, id)
);

-- The last ticket numbers of a tenant. Every new ticket updates the row, so the fillfactor leaves space for its
-- versions on the same page.
CREATE TABLE ticket_sequences (
  tenant_id bigint DEFAULT 0 PRIMARY KEY,
  total integer NOT NULL DEFAULT 0,
  incident integer NOT NULL DEFAULT 0,
  problem integer NOT NULL DEFAULT 0,
  change integer NOT NULL DEFAULT 0,
  service_request integer NOT NULL DEFAULT 0,
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (fillfactor = 20);

-- The number of tickets with a combination of field values, updated by triggers (docs/decisions/pagination.md). Each
-- ticket counts in the row with assignee_id 0 and, if it has an assignee, in the row of the assignee. category is '' if
-- the ticket has no category.
CREATE TABLE ticket_counts (
  tenant_id bigint NOT NULL DEFAULT 0,
  assignee_id bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  priority text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  category text COLLATE "C" NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (tenant_id, assignee_id, status, priority, type, category)
) WITH (fillfactor = 50);

-- Assets and projects ----------------------------------------------------------

CREATE TABLE assets (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  name text NOT NULL,
  asset_tag text NOT NULL,
  serial_number text,
  type text COLLATE "C" NOT NULL
    CHECK (type IN ('LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'NETWORK', 'PRINTER', 'SOFTWARE', 'OTHER')),
  status text COLLATE "C" NOT NULL DEFAULT 'IN_STOCK'
    CHECK (status IN ('ON_ORDER', 'IN_STOCK', 'IN_TRANSIT', 'IN_USE', 'MAINTENANCE', 'RETIRED', 'DISPOSED', 'LOST')),
  manufacturer text,
  model text,
  location text,
  assigned_to_id bigint,
  purchase_date date,
  purchase_cost numeric(14,2),
  warranty_expires_at timestamptz(3),
  notes text,
  custom_fields jsonb NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, assigned_to_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON assets (tenant_id, assigned_to_id, id DESC);
CREATE INDEX ON assets (tenant_id, status, id DESC);
CREATE INDEX ON assets (tenant_id, type, id DESC);
CREATE UNIQUE INDEX assets_tenant_id_asset_tag_key ON assets (tenant_id, asset_tag);

-- A CSV file that a user has uploaded but not yet imported. preview is the content of the preview page.
CREATE TABLE csv_uploads (
  tenant_id bigint NOT NULL DEFAULT 0,
  user_id bigint NOT NULL,
  resource text NOT NULL,
  content bytea NOT NULL,
  preview json NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, user_id, resource),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);

CREATE TABLE projects (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  key text NOT NULL,
  name text NOT NULL,
  description text,
  status text COLLATE "C" NOT NULL DEFAULT 'PLANNED'
    CHECK (status IN ('PLANNED', 'ACTIVE', 'ON_HOLD', 'COMPLETED', 'CANCELLED')),
  priority text COLLATE "C" NOT NULL DEFAULT 'MEDIUM' CHECK (priority IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  manager_id bigint,
  start_date date,
  end_date date,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, manager_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON projects (tenant_id, manager_id);
CREATE INDEX ON projects (tenant_id, status, id DESC);
CREATE UNIQUE INDEX projects_tenant_id_key_key ON projects (tenant_id, key);

CREATE TABLE tasks (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  project_id bigint NOT NULL,
  title text NOT NULL,
  description text,
  status text COLLATE "C" NOT NULL DEFAULT 'TODO'
    CHECK (status IN ('TODO', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED')),
  priority text COLLATE "C" NOT NULL DEFAULT 'MEDIUM' CHECK (priority IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  assignee_id bigint,
  start_date date,
  due_date date,
  completed_at timestamptz(3),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, assignee_id) REFERENCES users ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, project_id) REFERENCES projects ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON tasks (tenant_id, assignee_id);
CREATE INDEX ON tasks (tenant_id, project_id, assignee_id, id DESC);
CREATE INDEX ON tasks (tenant_id, project_id, id DESC);
CREATE INDEX ON tasks (tenant_id, project_id, priority, id DESC);
CREATE INDEX ON tasks (tenant_id, project_id, status, id DESC);

-- Change feed (docs/decisions/change-feed.md) --------------------------------------

-- The position of each row in the order of changes, written by triggers. horizon is the position of the oldest
-- transaction that was running when the row was written. The thresholds of autovacuum are low, because writes
-- constantly move rows to the end of the index.
CREATE TABLE changes (
  tenant_id bigint NOT NULL DEFAULT 0,
  resource text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  position bigint NOT NULL,
  horizon bigint NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, resource, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
CREATE INDEX ON changes (tenant_id, resource, position, id);

-- The runs of PostgreSQL servers that assigned positions. The rows belong to no tenant. The triggers add
-- position_offset to transaction ids, because transaction ids start at a low number again on another server.
CREATE TABLE change_epochs (
  begins_at bigint PRIMARY KEY,
  started_at timestamptz(6) NOT NULL,
  system_identifier bigint NOT NULL,
  position_offset bigint NOT NULL
);

-- The time since when a server has been running without a recovery. The table is unlogged, so that a recovery, a
-- promotion or a restore of files empties it. After these events, PostgreSQL can assign the same transaction ids again,
-- although the start time of the server stays the same. A dump includes the rows, so they identify their server.
CREATE UNLOGGED TABLE server_runs (
  system_identifier bigint NOT NULL,
  began_at timestamptz(6) NOT NULL,
  PRIMARY KEY (system_identifier, began_at)
);

-- Full-text search (docs/decisions/full-text-search.md) ----------------------------------

-- The words of each row for full-text search, written by triggers. PostgreSQL first adds new words to the pending list
-- of the index. The maximum length of this list is low, because every search scans it.
CREATE TABLE texts (
  tenant_id bigint NOT NULL DEFAULT 0,
  resource text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  document tsvector NOT NULL,
  PRIMARY KEY (tenant_id, resource, id)
);
CREATE INDEX ON texts USING gin (document) WITH (gin_pending_list_limit = 64);

-- Webhooks ---------------------------------------------------------------------

-- Secrets are encrypted. open_until and openings contain the state of the circuit breaker. held is true if a user has
-- paused deliveries. Until the receiver first responds with 2xx at the current URL, trial_attempts contains the start
-- times of the attempts in the last minute.
CREATE TABLE webhook_subscriptions (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  url text NOT NULL,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  events text[],
  filter jsonb,
  skip_own boolean NOT NULL DEFAULT false,
  key_id bigint,
  active boolean NOT NULL DEFAULT true,
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz(3),
  open_until timestamptz(3),
  openings integer NOT NULL DEFAULT 0,
  paused_at timestamptz(3),
  paused_reason text,
  version integer NOT NULL DEFAULT 1,
  first_succeeded_at timestamptz(3),
  trial_attempts timestamptz(3)[] DEFAULT ARRAY[]::timestamptz(3)[],
  held boolean NOT NULL DEFAULT false,
  quota_reached_at timestamptz(3),
  quota_pending integer,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON webhook_subscriptions (tenant_id, active, id DESC);

-- A request to send deliveries again, and its progress. after_id is the last processed delivery of the first status in
-- states.
CREATE TABLE webhook_replays (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  subscription_id bigint NOT NULL,
  since timestamptz(3) NOT NULL,
  states text[],
  after_id bigint NOT NULL DEFAULT 0,
  requested_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  worked_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  matching integer,
  sent integer NOT NULL DEFAULT 0,
  finished_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, subscription_id) REFERENCES webhook_subscriptions ON UPDATE CASCADE ON DELETE RESTRICT
);

-- The outbox, with one row per event, written in the transaction of the change. Each attempt sends the exact bytes of
-- body.
CREATE TABLE events (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  public_id text NOT NULL,
  type text NOT NULL,
  body text NOT NULL,
  trace_parent text,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON events (tenant_id, created_at);
CREATE INDEX ON events (tenant_id, type, id DESC);
CREATE UNIQUE INDEX events_tenant_id_public_id_key ON events (tenant_id, public_id);

-- The delivery of an event to a subscription. next_attempt_at is when a worker can claim the delivery or, if it is
-- already claimed, when the lease expires. lost is the number of attempts whose worker stopped before it recorded a
-- result.
CREATE TABLE deliveries (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  subscription_id bigint NOT NULL,
  event_id bigint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED')),
  attempts integer NOT NULL DEFAULT 0,
  lost integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  claim uuid,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  settled_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, event_id) REFERENCES events ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (tenant_id, subscription_id) REFERENCES webhook_subscriptions ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX deliveries_due_idx ON deliveries (tenant_id, subscription_id, next_attempt_at) WHERE (state = 'PENDING');
CREATE INDEX ON deliveries (tenant_id, settled_at);
CREATE INDEX ON deliveries (tenant_id, state, id DESC);
CREATE INDEX ON deliveries (tenant_id, subscription_id, id DESC);
CREATE INDEX ON deliveries (tenant_id, subscription_id, state, id DESC);
CREATE UNIQUE INDEX deliveries_tenant_id_event_id_subscription_id_key
  ON deliveries (tenant_id, event_id, subscription_id);

-- answer is the body of a response that may come from a private network. The role for requests can't read it.
-- public_answer is the body of any other response.
CREATE TABLE delivery_attempts (
  tenant_id bigint NOT NULL DEFAULT 0,
  id bigserial,
  delivery_id bigint NOT NULL,
  number integer NOT NULL,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  status integer,
  error text,
  answer text,
  public_answer text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, delivery_id) REFERENCES deliveries ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX ON delivery_attempts (tenant_id, delivery_id, id);

-- Requests ---------------------------------------------------------------------

-- Responses to requests with an Idempotency-Key (docs/decisions/idempotency.md). The table has no foreign key, because
-- a foreign key would lock the row of the API key. The thresholds of autovacuum are low, because all rows are deleted
-- after a day.
CREATE TABLE idempotency_keys (
  tenant_id bigint NOT NULL DEFAULT 0,
  key_id bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  answer text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, key_id, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
CREATE INDEX ON idempotency_keys (tenant_id, created_at);

-- The number of requests by API key, endpoint and outcome (docs/decisions/usage-statistics.md). The rows with key_id 0
-- contain the sum of all keys. The server updates the rows of the current minute every few seconds, so the fillfactor
-- leaves space for their versions on the same page.
CREATE TABLE usage_minutes (
  tenant_id bigint NOT NULL DEFAULT 0,
  at timestamptz(0) NOT NULL,
  key_id bigint NOT NULL,
  endpoint text NOT NULL,
  outcome text NOT NULL
    CHECK (outcome IN ('SUCCESSFUL', 'REDIRECTION', 'CLIENT_ERROR', 'SERVER_ERROR',
      'GLOBAL_LIMIT', 'GROUP_LIMIT', 'CONCURRENCY_LIMIT')),
  requests integer NOT NULL,
  latencies integer[],
  global_peak smallint NOT NULL,
  group_peak smallint NOT NULL,
  PRIMARY KEY (tenant_id, at, key_id, endpoint, outcome)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
CREATE INDEX usage_minutes_near_idx ON usage_minutes (tenant_id, at, key_id)
  WHERE ((global_peak >= 80) OR (group_peak >= 80));

CREATE TABLE usage_hours (
  tenant_id bigint NOT NULL DEFAULT 0,
  at timestamptz(0) NOT NULL,
  key_id bigint NOT NULL,
  endpoint text NOT NULL,
  outcome text NOT NULL
    CHECK (outcome IN ('SUCCESSFUL', 'REDIRECTION', 'CLIENT_ERROR', 'SERVER_ERROR',
      'GLOBAL_LIMIT', 'GROUP_LIMIT', 'CONCURRENCY_LIMIT')),
  requests integer NOT NULL,
  latencies integer[],
  global_peak smallint NOT NULL,
  group_peak smallint NOT NULL,
  PRIMARY KEY (tenant_id, at, key_id, endpoint, outcome)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
CREATE INDEX usage_hours_near_idx ON usage_hours (tenant_id, at, key_id)
  WHERE ((global_peak >= 80) OR (group_peak >= 80));

-- =============================================================================
-- Row-level security
--
-- The role itsm_request sees and writes only the rows of the tenant in the setting itsm.tenant_id, and no rows without
-- this setting. PostgreSQL evaluates the subquery once per query.
-- =============================================================================

DO $$
DECLARE
  tenant CONSTANT text := '(SELECT nullif(current_setting(''itsm.tenant_id'', true), '''')::bigint)';
  owned record;
BEGIN
  FOR owned IN
    SELECT 'tenants' AS name, 'id' AS owner
    UNION ALL SELECT unnest(ARRAY[
      'users', 'api_keys', 'invitations', 'passwords', 'passkeys', 'sessions', 'audit_entries',
      'tickets', 'ticket_watchers', 'comments', 'activities', 'ticket_sequences', 'ticket_counts', 'texts',
      'assets', 'csv_uploads', 'projects', 'tasks', 'changes',
      'webhook_subscriptions', 'webhook_replays', 'events', 'deliveries', 'delivery_attempts',
      'idempotency_keys', 'usage_minutes', 'usage_hours']), 'tenant_id'
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', owned.name);
    EXECUTE format('CREATE POLICY request ON %I TO itsm_request USING (%I = %s) WITH CHECK (%2$I = %3$s)',
      owned.name, owned.owner, tenant);
    EXECUTE format('CREATE POLICY system ON %I TO itsm_system USING (true) WITH CHECK (true)', owned.name);
  END LOOP;
END
$$;

-- =============================================================================
-- Rights
--
-- There are no default privileges, so each right needs a GRANT. The rights on functions come after their definitions.
-- =============================================================================

GRANT USAGE ON SCHEMA public TO itsm_request, itsm_system;

-- Requests have only the rights that endpoints and the developer area need. Triggers write the other tables with the
-- rights of the owner.
GRANT SELECT ON ticket_counts, texts, changes, change_epochs, usage_minutes, usage_hours TO itsm_request;
GRANT SELECT, INSERT ON comments, activities, events, webhook_replays, audit_entries TO itsm_request;
GRANT SELECT, INSERT, UPDATE ON users, tickets, ticket_sequences, assets, projects, tasks, webhook_subscriptions,
  deliveries, idempotency_keys TO itsm_request;
GRANT SELECT, INSERT, DELETE ON ticket_watchers TO itsm_request;
GRANT SELECT, INSERT, UPDATE, DELETE ON csv_uploads TO itsm_request;
GRANT USAGE ON SEQUENCE users_id_seq, api_keys_id_seq, invitations_id_seq, audit_entries_id_seq, tickets_id_seq,
  comments_id_seq, activities_id_seq, assets_id_seq, projects_id_seq, tasks_id_seq, webhook_subscriptions_id_seq,
  webhook_replays_id_seq, events_id_seq, deliveries_id_seq TO itsm_request;

-- Requests create keys and invitations, but can't read their hashes.
GRANT INSERT, UPDATE (name, scopes, expires_at, revoked_at, updated_at), SELECT (tenant_id, id, user_id, rotated_from,
  name, last_four, scopes, expires_at, revoked_at, last_used_at, created_at, updated_at) ON api_keys TO itsm_request;
GRANT INSERT, UPDATE (used_at), SELECT (tenant_id, id, user_id, demo, expires_at, used_at, created_at)
  ON invitations TO itsm_request;
-- An administrator who deactivates a user also ends the user's sessions.
GRANT UPDATE (ended_at), SELECT (tenant_id, id, user_id, ended_at) ON sessions TO itsm_request;
-- Requests can't read responses that may come from a private network.
GRANT SELECT (tenant_id, id, delivery_id, number, started_at, duration_ms, status, error, public_answer)
  ON delivery_attempts TO itsm_request;

-- Key lookups, sign-ins, workers, retention jobs and the command line access the rows of all tenants.
GRANT SELECT, INSERT, UPDATE, DELETE ON tenants, users, api_keys, invitations, passwords, passkeys, sessions,
  sign_in_failures, used_challenges, audit_entries, tickets, ticket_watchers, comments, activities, ticket_sequences,
  ticket_counts, texts, assets, csv_uploads, projects, tasks, changes, change_epochs, server_runs,
  webhook_subscriptions, webhook_replays, events, deliveries, delivery_attempts, idempotency_keys, usage_minutes,
  usage_hours TO itsm_system;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO itsm_system;
-- With this right, a process that isn't the owner of the tables can read which migrations were applied.
GRANT SELECT ON _prisma_migrations TO itsm_system;

-- =============================================================================
-- Triggers
--
-- Triggers run for every write, also for writes in psql. If a function writes tables that requests can't write, it is
-- SECURITY DEFINER, and PUBLIC can't execute it. Otherwise, another role could add the trigger to its own table, and
-- write with the rights of the owner.
-- =============================================================================

-- Versions for ETags (docs/decisions/optimistic-concurrency.md) ----------------------------

-- Increments the version. After the largest integer, the version starts again at 1.
CREATE FUNCTION next_version() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN NEW.version := OLD.version % 2147483647 + 1; RETURN NEW; END
$$;

CREATE TRIGGER users_next_version BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER tickets_next_version BEFORE UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER assets_next_version BEFORE UPDATE ON assets FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER projects_next_version BEFORE UPDATE ON projects FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER tasks_next_version BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION next_version();
-- The version doesn't change if only the health of the subscription changes.
CREATE TRIGGER webhook_subscriptions_next_version BEFORE UPDATE ON webhook_subscriptions FOR EACH ROW
  WHEN ((OLD.updated_at, OLD.url, OLD.events, OLD.filter, OLD.skip_own, OLD.active, OLD.held)
    IS DISTINCT FROM (NEW.updated_at, NEW.url, NEW.events, NEW.filter, NEW.skip_own, NEW.active, NEW.held))
  EXECUTE FUNCTION next_version();

-- API keys, which every process caches (server/src/auth/api-keys/key-lookup.ts) -------

-- Notifies all processes that the API keys of a tenant may have changed. The payload is the id of the tenant.
CREATE FUNCTION notify_api_keys() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('api_keys', coalesce(to_jsonb(OLD) ->> 'tenant_id', to_jsonb(OLD) ->> 'id'));
  RETURN NULL;
END
$$;

CREATE TRIGGER api_keys_notify AFTER DELETE OR UPDATE OF revoked_at, expires_at, scopes ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
CREATE TRIGGER users_notify_api_keys AFTER DELETE OR UPDATE OF active ON users
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
CREATE TRIGGER tenants_notify_api_keys AFTER DELETE OR UPDATE OF active ON tenants
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();

-- Webhooks ---------------------------------------------------------------------

-- Keeps the circuit of a subscription open while a user has paused it, regardless of the results of attempts.
CREATE FUNCTION hold_webhook() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.open_until := '9999-12-31 00:00:00+00';
  NEW.paused_at := coalesce(OLD.paused_at, now());
  NEW.paused_reason := 'Paused by its owner.';
  RETURN NEW;
END
$$;

CREATE TRIGGER webhook_subscriptions_hold BEFORE UPDATE ON webhook_subscriptions
  FOR EACH ROW WHEN (NEW.held) EXECUTE FUNCTION hold_webhook();

-- Requests ---------------------------------------------------------------------

-- Raises the error IT001 if the condition is not true, so that a statement can make its transaction fail
-- (server/src/database/client/transaction.ts).
CREATE FUNCTION require_condition(condition boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF condition IS NOT TRUE THEN
    RAISE EXCEPTION 'A condition of the transaction does not hold.' USING ERRCODE = 'IT001';
  END IF;
END
$$;

-- Cells (docs/decisions/failover-and-cells.md) ----------------------------------------------

-- Sets the range of tenant ids to the range of a cell, unless the database has already assigned ids. Returns the cell
-- of the database.
CREATE FUNCTION enter_cell(cell integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM setval('tenants_id_seq', cell * 1000000000::bigint) FROM tenants_id_seq WHERE NOT is_called AND cell > 0;
  RETURN (SELECT last_value / 1000000000 FROM tenants_id_seq);
END
$$;

REVOKE ALL ON FUNCTION enter_cell(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION enter_cell(integer) TO itsm_system;

-- Change feed ------------------------------------------------------------------

INSERT INTO change_epochs (begins_at, started_at, system_identifier, position_offset)
SELECT 0, pg_postmaster_start_time(), system_identifier, 0 FROM pg_control_system();
INSERT INTO server_runs SELECT system_identifier, pg_postmaster_start_time() FROM pg_control_system();

-- Returns the time since when the server has been running without a recovery, or null if it is not recorded yet.
CREATE FUNCTION server_ran_since() RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT greatest(pg_postmaster_start_time(), max(began_at)) FROM server_runs
    WHERE system_identifier = (SELECT system_identifier FROM pg_control_system()) HAVING count(*) > 0);
END
$$;

-- Begins a new epoch after the server was started, restored or replaced. Records the first position of the epoch, and
-- returns the offset to add to transaction ids. If the database is on a different server than before, locks
-- change_epochs, so that all transactions use the same new offset. With this offset, the positions of all running and
-- later transactions are higher than all earlier positions.
CREATE FUNCTION begin_change_epoch() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  server CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
  newest change_epochs;
  oldest_running bigint;
  run timestamptz;
BEGIN
  SELECT * INTO newest FROM change_epochs ORDER BY begins_at DESC LIMIT 1;
  IF pg_is_in_recovery() THEN
    RETURN newest.position_offset;
  END IF;
  IF newest.system_identifier <> server THEN
    LOCK TABLE change_epochs IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO newest FROM change_epochs ORDER BY begins_at DESC LIMIT 1;
  END IF;
  IF newest.system_identifier <> server THEN
    oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    newest.position_offset := greatest(
      newest.position_offset,
      newest.begins_at + 1 - oldest_running,
      (SELECT max(c.position) + 1 - oldest_running
        FROM tenants t CROSS JOIN unnest(ARRAY['tickets', 'assets', 'projects', 'tasks', 'users']) AS r (resource)
        CROSS JOIN LATERAL (SELECT position FROM changes WHERE tenant_id = t.id AND resource = r.resource
          ORDER BY position DESC LIMIT 1) AS c)
    );
  END IF;
  run := server_ran_since();
  IF run IS NULL OR run < (SELECT max(started_at) FROM change_epochs) THEN
    -- The start of the run must be later than every earlier epoch, even if the clock was set back. It must differ
    -- between concurrent transactions.
    run := greatest(clock_timestamp(), pg_postmaster_start_time() + interval '1 microsecond',
        (SELECT max(started_at) FROM change_epochs) + interval '1 microsecond')
      + pg_current_xact_id()::text::bigint % 1000000 * interval '1 microsecond';
    INSERT INTO server_runs VALUES (server, run) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO change_epochs (begins_at, started_at, system_identifier, position_offset)
  VALUES (newest.position_offset + pg_current_xact_id()::text::bigint, run, server, newest.position_offset)
  ON CONFLICT DO NOTHING;
  RETURN newest.position_offset;
END
$$;

-- Returns the offset to add to transaction ids on this server. Caches the offset in a setting of the session, because
-- no session survives a restart. If the transaction is rolled back, PostgreSQL also discards the setting.
CREATE FUNCTION change_offset() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  newest change_epochs;
BEGIN
  SELECT * INTO newest FROM change_epochs ORDER BY begins_at DESC LIMIT 1;
  IF newest.started_at IS DISTINCT FROM server_ran_since()
    OR newest.begins_at > newest.position_offset + pg_current_xact_id()::text::bigint
  THEN
    newest.position_offset := begin_change_epoch();
  END IF;
  PERFORM set_config('itsm.change_offset', newest.position_offset::text, false);
  RETURN newest.position_offset;
END
$$;

-- Returns the current epoch. The first call after a restart begins a new epoch.
CREATE FUNCTION current_change_epoch(OUT started_at timestamptz, OUT position_offset bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  SELECT e.started_at, e.position_offset INTO started_at, position_offset
  FROM change_epochs e ORDER BY e.begins_at DESC LIMIT 1;
  -- A standby has no unlogged tables.
  IF NOT pg_is_in_recovery() AND started_at IS DISTINCT FROM server_ran_since() THEN
    position_offset := begin_change_epoch();
    started_at := server_ran_since();
  END IF;
END
$$;

-- Moves a row to the newest position, once per transaction, and returns the position. The caller needs the right to
-- write to changes. The function returns a value, so that callers can use it in expressions, which are cheaper than
-- statements.
CREATE FUNCTION note_change(of_tenant bigint, of_resource text, of_row bigint, is_new boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  change_offset CONSTANT bigint := COALESCE(
    nullif(current_setting('itsm.change_offset', true), '')::bigint, change_offset());
  newest CONSTANT bigint := change_offset + pg_current_xact_id()::text::bigint;
  oldest_running CONSTANT bigint := change_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
BEGIN
  -- In most cases, the row already exists. An UPDATE then costs half of an INSERT that conflicts.
  IF NOT is_new THEN
    UPDATE changes SET position = newest, horizon = oldest_running, changed_at = clock_timestamp()
    WHERE tenant_id = of_tenant AND resource = of_resource AND id = of_row AND position <> newest;
    IF FOUND THEN
      RETURN newest;
    END IF;
  END IF;
  INSERT INTO changes AS c (tenant_id, resource, id, position, horizon, changed_at)
  VALUES (of_tenant, of_resource, of_row, newest, oldest_running, clock_timestamp())
  ON CONFLICT (tenant_id, resource, id) DO UPDATE
  SET position = EXCLUDED.position, horizon = EXCLUDED.horizon, changed_at = EXCLUDED.changed_at
  WHERE c.position <> EXCLUDED.position;
  RETURN newest;
END
$$;

-- The trigger function of all resources except tickets.
CREATE FUNCTION note_changed_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  noted CONSTANT bigint := note_change(NEW.tenant_id, TG_TABLE_NAME, NEW.id, TG_OP = 'INSERT');
BEGIN
  RETURN NULL;
END
$$;

-- The trigger function of tickets. It is the only row trigger after a write, because PostgreSQL evaluates the condition
-- of each trigger for each statement. The trigger tickets_text_new writes the words of new rows.
CREATE FUNCTION note_changed_ticket() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  noted CONSTANT bigint := note_change(NEW.tenant_id, 'tickets', NEW.id, TG_OP = 'INSERT');
BEGIN
  IF TG_OP = 'INSERT' THEN
    RETURN NULL;
  END IF;
  IF (OLD.tenant_id, OLD.status, OLD.priority, OLD.type, OLD.category, OLD.assignee_id)
    IS DISTINCT FROM (NEW.tenant_id, NEW.status, NEW.priority, NEW.type, NEW.category, NEW.assignee_id)
  THEN
    -- count_changed_tickets() reads this setting at the end of the statement.
    PERFORM set_config('itsm.kinds_changed', 'on', true);
  END IF;
  IF (OLD.tenant_id, OLD.id, OLD.ordinal, OLD.type, OLD.number, OLD.title, OLD.description)
    IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description)
  THEN
    UPDATE texts SET document =
      ticket_document(NEW.tenant_id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description)
    WHERE tenant_id = NEW.tenant_id AND resource = 'tickets' AND id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;

-- A change of watchers is a change of their ticket, because the API returns the watchers as a part of the ticket.
CREATE FUNCTION note_changed_watcher() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    PERFORM note_change(NEW.tenant_id, 'tickets', NEW.ticket_id, false);
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM note_change(OLD.tenant_id, 'tickets', OLD.ticket_id, false);
  END IF;
  RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION server_ran_since(), begin_change_epoch(), change_offset(), current_change_epoch(),
  note_change(bigint, text, bigint, boolean), note_changed_row(), note_changed_ticket(), note_changed_watcher()
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION begin_change_epoch(), current_change_epoch() TO itsm_request, itsm_system;

CREATE TRIGGER users_note_change AFTER INSERT OR UPDATE ON users FOR EACH ROW EXECUTE FUNCTION note_changed_row();
CREATE TRIGGER tickets_note_change AFTER INSERT OR UPDATE ON tickets
  FOR EACH ROW EXECUTE FUNCTION note_changed_ticket();
CREATE TRIGGER ticket_watchers_note_change AFTER INSERT OR UPDATE OR DELETE ON ticket_watchers
  FOR EACH ROW EXECUTE FUNCTION note_changed_watcher();
CREATE TRIGGER assets_note_change AFTER INSERT OR UPDATE ON assets FOR EACH ROW EXECUTE FUNCTION note_changed_row();
CREATE TRIGGER projects_note_change AFTER INSERT OR UPDATE ON projects FOR EACH ROW EXECUTE FUNCTION note_changed_row();
CREATE TRIGGER tasks_note_change AFTER INSERT OR UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION note_changed_row();

-- Totals of tickets (docs/decisions/pagination.md) ---------------------------------

-- Updates the counts of new tickets once per statement, so that a bulk load needs only one step. Updates the counts in
-- the order of their keys, so that two transactions can't deadlock.
CREATE FUNCTION count_new_tickets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO ticket_counts AS c (tenant_id, assignee_id, status, priority, type, category, count)
  SELECT tenant_id, a.id, status, priority, type, COALESCE(category, ''), count(*)
  FROM added CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (tenant_id, assignee_id, status, priority, type, category)
  DO UPDATE SET count = c.count + EXCLUDED.count;
  RETURN NULL;
END
$$;

-- Updates the counts of changed tickets. Most updates of tickets don't affect the counts. If an update does,
-- note_changed_ticket() sets itsm.kinds_changed.
CREATE FUNCTION count_changed_tickets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('itsm.kinds_changed', true) IS DISTINCT FROM 'on' THEN
    RETURN NULL;
  END IF;
  INSERT INTO ticket_counts AS c (tenant_id, assignee_id, status, priority, type, category, count)
  SELECT v.tenant_id, a.id, v.status, v.priority, v.type, COALESCE(v.category, ''), sum(v.change)
  FROM (
    SELECT tenant_id, assignee_id, status, priority, type, category, -1 AS change FROM before
    UNION ALL
    SELECT tenant_id, assignee_id, status, priority, type, category, 1 FROM after
  ) AS v
  CROSS JOIN LATERAL (VALUES (0::bigint), (v.assignee_id)) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(v.change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (tenant_id, assignee_id, status, priority, type, category)
  DO UPDATE SET count = c.count + EXCLUDED.count;
  RETURN NULL;
END
$$;

-- Rejects the deletion of tickets, because it would leave a gap in the ordinals.
CREATE FUNCTION refuse_deleting_tickets() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Tickets are never deleted, because their ordinals must have no gaps.'
    USING HINT = 'Give the ticket the status CANCELLED instead.';
END
$$;

REVOKE ALL ON FUNCTION count_new_tickets(), count_changed_tickets() FROM PUBLIC;

CREATE TRIGGER tickets_count_new AFTER INSERT ON tickets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_tickets();
CREATE TRIGGER tickets_count_changed AFTER UPDATE ON tickets
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_tickets();
CREATE TRIGGER tickets_refuse_delete BEFORE DELETE ON tickets
  FOR EACH ROW EXECUTE FUNCTION refuse_deleting_tickets();
CREATE TRIGGER tickets_refuse_truncate BEFORE TRUNCATE ON tickets
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_deleting_tickets();

-- =============================================================================
-- Full-text search (docs/decisions/full-text-search.md)
--
-- A GIN index can't start with tenant_id. Each word of a document therefore has a prefix that identifies a partition of
-- the index, which the code calls a place: the tenant, the resource and, for tickets, a bucket of 32,768 tickets. A
-- search queries one place at a time. The functions are in PL/pgSQL, because it caches their plans. PostgreSQL would
-- plan SQL functions for each row.
-- =============================================================================

-- Splits text into words, which are sequences of letters and digits on every server. First replaces all separators with
-- spaces. Otherwise, PostgreSQL's parser would not split email addresses, host names, paths and versions and, with
-- LC_CTYPE C, would treat every non-ASCII character as a letter. Normalizes to NFC, so that a letter and its accent are
-- one character.
CREATE FUNCTION text_words(given text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF octet_length(given) > char_length(given) THEN
    IF given IS NOT NFC NORMALIZED THEN
      given := normalize(given, NFC);
    END IF;
    given := regexp_replace(given, '['
      -- Latin, Greek, Armenian, Hebrew, Arabic, Devanagari
      '\u0080-\u00A9\u00AB-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7'
      '\u037E\u0387\u055A-\u055F\u0589-\u058F\u05BE\u060C\u061B\u061F\u066A-\u066D\u06D4\u0964\u0965'
      -- Thai, Tibetan, Myanmar, Ethiopic, Khmer
      '\u0E3F\u0F0B-\u0F14\u104A-\u104F\u1361-\u1368\u17D4-\u17DB'
      -- spaces and punctuation, currencies, letterlike signs, arrows, mathematics, boxes, pictures
      '\u1680\u2000-\u206F\u20A0-\u20FF\u2116\u2117\u2120-\u2122\u2190-\u245F\u2500-\u2775\u2794-\u2BFF\u2E00-\u2E7F'
      -- Chinese, Japanese, Korean; variants and full width
      '\u3000-\u3004\u3008-\u3020\u3030\u30FB\uFE00-\uFE1F\uFE30-\uFE6F\uFEFF\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFD'
      -- emoji and the signs that vary them
      '\U0001F000-\U0001FAFF\U000E0000-\U000E0FFF'
      ']+', ' ', 'g');
  END IF;
  RETURN to_tsvector('pg_catalog.simple', translate(given, '-./@<&+_~', '         '));
END
$$;

-- Returns the prefix of all words in a place.
CREATE FUNCTION text_place(tenant_id bigint, resource text, bucket integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN tenant_id || left(resource, 2) || bucket || ':';
END
$$;

-- Returns the document of a row. Shortens words to 64 characters.
CREATE FUNCTION text_document(place text, given text, number text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[] := tsvector_to_array(public.text_words(given)) || number;
  placed text;
BEGIN
  IF given ~ '\S{65}' THEN
    words := ARRAY(SELECT left(word, 64) FROM unnest(words) AS word);
  END IF;
  placed := place || nullif(array_to_string(words, chr(1) || place), '');
  RETURN COALESCE(array_to_tsvector(string_to_array(placed, chr(1))), '');
END
$$;

-- Returns the document of a ticket. The ticket number is one word. The code of the other functions is repeated, because
-- a function call would take as long as the work itself. regexp_replace() is faster than translate() here.
CREATE FUNCTION ticket_document(tenant_id bigint, ordinal integer, type text, number integer, title text, description text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  given CONSTANT text := title || ' ' || description;
  place CONSTANT text := tenant_id || 'ti' || (ordinal >> 15) || ':';
  words text[] := tsvector_to_array(CASE WHEN octet_length(given) > char_length(given) THEN public.text_words(given)
      ELSE to_tsvector('pg_catalog.simple', regexp_replace(given, '[-./@<&+_~]+', ' ', 'g')) END)
    || (CASE type WHEN 'INCIDENT' THEN 'inc-' WHEN 'PROBLEM' THEN 'prb-' WHEN 'CHANGE' THEN 'chg-' ELSE 'req-' END || number);
BEGIN
  IF given ~ '\S{65}' THEN
    words := ARRAY(SELECT left(word, 64) FROM unnest(words) AS word);
  END IF;
  RETURN array_to_tsvector(string_to_array(place || array_to_string(words, chr(1) || place), chr(1)));
END
$$;

-- Writes the documents of new rows. The arguments of the trigger are the names of the searched columns. All rows of a
-- resource are in one place.
CREATE FUNCTION write_new_texts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT a.tenant_id, TG_TABLE_NAME, a.id, public.text_document(
    public.text_place(a.tenant_id, TG_TABLE_NAME, 0),
    (SELECT string_agg(to_jsonb(a) ->> field, ' ') FROM unnest(TG_ARGV) AS field), NULL)
  FROM added AS a
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

-- Writes the document of a changed row.
CREATE FUNCTION write_text() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT NEW.tenant_id, TG_TABLE_NAME, NEW.id, public.text_document(
    public.text_place(NEW.tenant_id, TG_TABLE_NAME, 0), string_agg(to_jsonb(NEW) ->> field, ' '), NULL)
  FROM unnest(TG_ARGV) AS field
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

-- Writes the documents of new tickets. note_changed_ticket() updates the documents of changed tickets.
CREATE FUNCTION write_new_ticket_texts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT a.tenant_id, 'tickets', a.id,
    public.ticket_document(a.tenant_id, a.ordinal, a.type, a.number, a.title, a.description)
  FROM added AS a
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION write_new_texts(), write_text(), write_new_ticket_texts() FROM PUBLIC;

CREATE TRIGGER tickets_text_new AFTER INSERT ON tickets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION write_new_ticket_texts();

CREATE TRIGGER users_text_new AFTER INSERT ON users
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION write_new_texts('name', 'email');
CREATE TRIGGER users_text_changed AFTER UPDATE ON users FOR EACH ROW
  WHEN ((OLD.tenant_id, OLD.id, OLD.name, OLD.email) IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.name, NEW.email))
  EXECUTE FUNCTION write_text('name', 'email');

CREATE TRIGGER assets_text_new AFTER INSERT ON assets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT
  EXECUTE FUNCTION write_new_texts('name', 'asset_tag', 'serial_number');
CREATE TRIGGER assets_text_changed AFTER UPDATE ON assets FOR EACH ROW
  WHEN ((OLD.tenant_id, OLD.id, OLD.name, OLD.asset_tag, OLD.serial_number)
    IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.name, NEW.asset_tag, NEW.serial_number))
  EXECUTE FUNCTION write_text('name', 'asset_tag', 'serial_number');

CREATE TRIGGER projects_text_new AFTER INSERT ON projects
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION write_new_texts('key', 'name', 'description');
CREATE TRIGGER projects_text_changed AFTER UPDATE ON projects FOR EACH ROW
  WHEN ((OLD.tenant_id, OLD.id, OLD.key, OLD.name, OLD.description)
    IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.key, NEW.name, NEW.description))
  EXECUTE FUNCTION write_text('key', 'name', 'description');

CREATE TRIGGER tasks_text_new AFTER INSERT ON tasks
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION write_new_texts('title', 'description');
CREATE TRIGGER tasks_text_changed AFTER UPDATE ON tasks FOR EACH ROW
  WHEN ((OLD.tenant_id, OLD.id, OLD.title, OLD.description)
    IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.title, NEW.description))
  EXECUTE FUNCTION write_text('title', 'description');

-- Returns the search for the words of q as text, or null if q has no words. To get a tsquery, replace U+0001 with a
-- place. A match contains all words. The last word can be a prefix, unless it is a ticket number. A ticket number in
-- another text is two words.
CREATE FUNCTION text_query(q text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  number CONSTANT text := '\m(inc|prb|chg|req)-(\d+)\M';
  given CONSTANT text := lower(q);
  words CONSTANT tsvector := public.text_words(regexp_replace(given, number, ' ', 'g'));
  last CONSTANT integer := CASE WHEN given ~ (number || '\W*$') THEN 0
    ELSE (SELECT max(w.positions[cardinality(w.positions)]) FROM unnest(words) AS w) END;
BEGIN
  RETURN (
    SELECT string_agg(term, ' & ') FROM (
      SELECT format('(''%1$s%2$s-%3$s'' | ''%1$s%2$s'' & ''%1$s%3$s'')', chr(1), n[1], n[2]) AS term
      FROM regexp_matches(given, number, 'g') AS n
      UNION ALL
      SELECT '''' || chr(1) || replace(replace(left(w.lexeme, 64), '\', '\\'), '''', '''''') || ''''
        || CASE WHEN last = ANY (w.positions) THEN ':*' ELSE '' END
      FROM unnest(words) AS w
    ) AS terms
  );
END
$$;

-- Returns the ids of the tenant's rows that contain the words of q, in order, at most `most` ids. Queries one place
-- after another until it has enough rows. The operators of full-text search are not leakproof, so with row-level
-- security a request can't use the index itself. This function can, because it is SECURITY DEFINER. It searches only
-- the tenant in the setting itsm.tenant_id.
CREATE FUNCTION search_texts(searched text, q text, newest_first boolean, most integer) RETURNS TABLE(id bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off AS $$
DECLARE
  tenant CONSTANT bigint := nullif(current_setting('itsm.tenant_id', true), '')::bigint;
  query CONSTANT text := public.text_query(q);
  newest integer := 0;
  bucket integer;
  wanted integer := most;
  found integer;
BEGIN
  IF tenant IS NULL THEN
    RAISE EXCEPTION 'search_texts was called without a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF query IS NULL THEN RETURN; END IF;
  IF searched = 'tickets' THEN
    newest := COALESCE((SELECT s.total >> 15 FROM public.ticket_sequences s WHERE s.tenant_id = tenant), 0);
  END IF;
  FOR i IN 0..newest LOOP
    bucket := CASE WHEN newest_first THEN newest - i ELSE i END;
    RETURN QUERY
      SELECT m.id FROM (
        SELECT t.tenant_id, t.id FROM public.texts t
        WHERE t.document @@ replace(query, chr(1), public.text_place(tenant, searched, bucket))::tsquery
        -- OFFSET 0 separates the condition on tenant_id from the index scan, which already selects the tenant's place.
        OFFSET 0
      ) AS m
      WHERE m.tenant_id = tenant ORDER BY CASE WHEN newest_first THEN -m.id ELSE m.id END LIMIT wanted;
    GET DIAGNOSTICS found = ROW_COUNT;
    wanted := wanted - found;
    EXIT WHEN wanted <= 0;
  END LOOP;
END
$$;

REVOKE ALL ON FUNCTION search_texts(text, text, boolean, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_texts(text, text, boolean, integer) TO itsm_request;

-- =============================================================================
-- Job queues
--
-- After the migrations, pg-boss creates and migrates its own schema, but doesn't grant rights to the roles
-- (server/src/database/jobs/job-schema.ts). Requests can only add jobs to queues. Workers need all rights.
-- =============================================================================

-- Returns the statements that grant the missing rights on pg-boss's schema.
CREATE FUNCTION missing_job_queue_rights() RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT format('GRANT USAGE ON SCHEMA pgboss TO %I', role) FROM unnest(ARRAY['itsm_request', 'itsm_system']) AS role
    WHERE NOT has_schema_privilege(role, 'pgboss', 'USAGE')
    UNION ALL
    SELECT format('GRANT %s ON %s TO %I', string_agg(privilege, ', '), needed.table_oid, role) FROM (
      SELECT 'itsm_request' AS role, 'SELECT' AS privilege, 'pgboss.queue'::regclass AS table_oid
      UNION ALL SELECT 'itsm_request', 'INSERT', 'pgboss.job_common'
      UNION ALL SELECT 'itsm_system', privilege, oid
        FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
        WHERE relnamespace = 'pgboss'::regnamespace AND relkind IN ('r', 'p')
    ) AS needed
    WHERE NOT has_table_privilege(role, table_oid, privilege) GROUP BY table_oid, role;
END
$$;
