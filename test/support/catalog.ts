import { query } from './database.ts';

/*
 * Lists the objects of a database. Excludes details that don't change the behavior of a database, for example object
 * ids and column positions.
 */

const ours = "'public'::regnamespace";
/** The schemas for which the queries list privileges. They include pgboss, because our migrations grant privileges on
 * it. */
const granted = "('public'::regnamespace, 'pgboss'::regnamespace)";
const isTable = "relkind NOT IN ('i', 'I', 'S', 't', 'c')";
/** The SQL condition that excludes the daily partitions of pg-boss. */
const isNoDay = "relname !~ '_\\d{8}$'";

/** SQL queries by kind of object. Each query returns one line of text per object. */
const kinds: Record<string, string> = {
  Extensions: "SELECT concat_ws(' ', extname, 'in', extnamespace::regnamespace) FROM pg_extension",
  Roles: `
    SELECT concat_ws(' ', rolname, CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
      CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END,
      CASE WHEN rolcanlogin THEN 'LOGIN' END, CASE WHEN rolinherit THEN 'INHERIT' END,
      CASE WHEN rolreplication THEN 'REPLICATION' END, 'connection limit', rolconnlimit)
    FROM pg_roles WHERE rolname LIKE 'itsm%'`,
  'Memberships of roles': `
    SELECT concat_ws(' ', member::regrole, 'in', roleid::regrole)
    FROM pg_auth_members WHERE member::regrole::text LIKE 'itsm%'`,
  'Settings of roles and of the database': `
    SELECT concat_ws(' ', CASE setrole WHEN 0 THEN 'all roles' ELSE setrole::regrole::text END, setconfig::text)
    FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
      OR setrole::regrole::text LIKE 'itsm%'`,
  Types: `
    SELECT concat_ws(' ', t.oid::regtype, t.typtype, nullif(t.typbasetype, 0)::regtype, t.typdefault,
      (SELECT array_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)::text)
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE typnamespace = ${ours} AND typelem = 0 AND (c.relkind IS NULL OR c.relkind = 'c')`,
  Collations: `
    SELECT concat_ws(' ', collname, collprovider, collisdeterministic, collcollate, collctype)
    FROM pg_collation WHERE collnamespace = ${ours}`,
  'Text search configurations': `
    SELECT concat_ws(' ', cfgname, maptokentype, mapseqno, mapdict::regdictionary)
    FROM pg_ts_config c LEFT JOIN pg_ts_config_map ON mapcfg = c.oid WHERE cfgnamespace = ${ours}`,
  'Text search dictionaries': `
    SELECT concat_ws(' ', dictname, dicttemplate, dictinitoption) FROM pg_ts_dict WHERE dictnamespace = ${ours}`,
  Tables: `
    SELECT concat_ws(' ', relname, 'kind', relkind, 'persistence', relpersistence, 'replica identity', relreplident,
      CASE WHEN relrowsecurity THEN 'row security' END, CASE WHEN relforcerowsecurity THEN 'forced' END,
      reloptions::text, (SELECT 'toast ' || reloptions::text FROM pg_class t WHERE t.oid = c.reltoastrelid),
      CASE WHEN relkind = 'p' THEN pg_get_partkeydef(oid) END,
      CASE WHEN relispartition THEN pg_get_expr(relpartbound, oid) END,
      CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid) END,
      CASE WHEN relowner <> current_user::regrole THEN 'of another owner' END)
    FROM pg_class c WHERE relnamespace = ${ours} AND ${isTable}`,
  Columns: `
    SELECT concat_ws(' ', concat(relname, '.', attname), format_type(atttypid, atttypmod),
      CASE WHEN attcollation NOT IN (0, typcollation) THEN concat('collate ', attcollation::regcollation) END,
      CASE WHEN attnotnull THEN 'not null' END,
      CASE WHEN attidentity <> '' THEN concat('identity ', attidentity) END,
      CASE WHEN attgenerated <> '' THEN concat('generated ', attgenerated) END,
      'default ' || pg_get_expr(adbin, adrelid),
      CASE WHEN attstorage <> typstorage THEN concat('storage ', attstorage) END,
      CASE WHEN attcompression <> '' THEN concat('compression ', attcompression) END,
      CASE WHEN attstattarget >= 0 THEN concat('statistics ', attstattarget) END, attoptions::text)
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_type t ON t.oid = atttypid
    LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE relnamespace = ${ours} AND ${isTable} AND attnum > 0 AND NOT attisdropped`,
  Constraints: `
    SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = ${ours} AND contype NOT IN ('n', 't')`,
  Indexes: `
    SELECT concat_ws(' ', pg_get_indexdef(indexrelid), CASE WHEN NOT indisvalid THEN 'invalid' END,
      CASE WHEN indisreplident THEN 'replica identity' END, CASE WHEN indisclustered THEN 'clustered' END,
      (SELECT 'statistics ' || string_agg(concat(attnum, ' ', attstattarget), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = indexrelid AND attstattarget >= 0))
    FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relnamespace = ${ours}`,
  Sequences: `
    SELECT concat_ws(' ', seqrelid::regclass, seqtypid::regtype, 'start', seqstart, 'by', seqincrement,
      'from', seqmin, 'to', seqmax, 'cache', seqcache, CASE WHEN seqcycle THEN 'cycle' END,
      (SELECT concat('of ', refobjid::regclass, '.', attname)
        FROM pg_depend JOIN pg_attribute ON (attrelid, attnum) = (refobjid, refobjsubid)
        WHERE objid = seqrelid AND deptype IN ('a', 'i')))
    FROM pg_sequence JOIN pg_class ON oid = seqrelid WHERE relnamespace = ${ours}`,
  Functions: `
    SELECT concat(concat_ws(' ', concat(proname, '(', pg_get_function_arguments(p.oid), ')'),
      'returns ' || pg_get_function_result(p.oid), 'kind', prokind, 'language', lanname, 'volatility', provolatile,
      'parallel', proparallel, 'cost', procost, 'rows', prorows, CASE WHEN prosecdef THEN 'security definer' END,
      CASE WHEN proisstrict THEN 'strict' END, CASE WHEN proleakproof THEN 'leakproof' END,
      CASE WHEN prosupport <> 0 THEN concat('support ', prosupport) END, proconfig::text,
      CASE WHEN proowner <> current_user::regrole THEN 'of another owner' END),
      regexp_replace(btrim(COALESCE(pg_get_function_sqlbody(p.oid), prosrc), E'\\n'), '^|\\n(?=.)', E'\\n    ', 'g'))
    FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE pronamespace = ${ours}`,
  Triggers: `
    SELECT concat_ws(' ', pg_get_triggerdef(t.oid), 'enabled', tgenabled)
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = ${ours} AND NOT tgisinternal`,
  'Event triggers': "SELECT concat_ws(' ', evtname, evtevent, evtfoid::regproc, evtenabled) FROM pg_event_trigger",
  Policies: `
    SELECT concat_ws(' ', concat(tablename, '.', policyname), permissive, 'for', cmd, 'to', roles::text,
      'using ' || qual, 'check ' || with_check)
    FROM pg_policies WHERE schemaname = 'public'`,
  Rules: "SELECT definition FROM pg_rules WHERE schemaname = 'public'",
  'Extended statistics': `
    SELECT concat_ws(' ', pg_get_statisticsobjdef(oid), 'target', stxstattarget)
    FROM pg_statistic_ext WHERE stxnamespace = ${ours}`,
  'Rights on schemas': rights('n', 'nspname', 'nsp', `pg_namespace WHERE oid IN ${granted}`),
  'Rights on tables': rights(
    'r',
    'oid::regclass',
    'rel',
    `pg_class WHERE relnamespace IN ${granted} AND ${isTable} AND ${isNoDay}`,
  ),
  'Rights on columns': `
    SELECT concat_ws(' ', relname, privilege_type, concat('(', string_agg(attname, ', ' ORDER BY attname), ')'),
      'to', grantee::regrole)
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid, aclexplode(attacl)
    WHERE relnamespace IN ${granted} AND NOT attisdropped GROUP BY relname, privilege_type, grantee`,
  'Rights on sequences': rights(
    's',
    'oid::regclass',
    'rel',
    `pg_class WHERE relnamespace IN ${granted} AND relkind = 'S'`,
  ),
  'Rights on functions': rights('f', 'oid::regprocedure', 'pro', `pg_proc WHERE pronamespace = ${ours}`),
  'Default rights': `
    SELECT concat_ws(' ', defaclrole::regrole, nullif(defaclnamespace, 0)::regnamespace, defaclobjtype, defaclacl::text)
    FROM pg_default_acl`,
  Publications: 'SELECT pubname FROM pg_publication',
  Comments: `
    SELECT concat_ws(' ', pg_describe_object(classoid, objoid, objsubid), description) FROM pg_description
    WHERE objoid IN (SELECT oid FROM pg_class WHERE relnamespace = ${ours}
      UNION ALL SELECT oid FROM pg_proc WHERE pronamespace = ${ours})`,
};

/**
 * Returns a query for the privileges on the given objects, without the privileges of each object's owner.
 * @param type the type of the objects for acldefault()
 * @param prefix the prefix of the column names in the catalog table
 */
function rights(type: string, name: string, prefix: string, objects: string): string {
  const [acl, owner] = [`${prefix}acl`, `${prefix}owner`];
  return `
    SELECT concat_ws(' ', ${name}, string_agg(privilege_type, ', ' ORDER BY privilege_type),
      'to', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
      CASE WHEN is_grantable THEN 'with grant option' END)
    FROM (SELECT * FROM ${objects}) AS objects, aclexplode(COALESCE(${acl}, acldefault('${type}', ${owner})))
    WHERE grantee <> ${owner} GROUP BY ${name}, grantee, is_grantable`;
}

/** Returns the list of all objects of a database, in a stable order. */
export async function describeCatalog(databaseUrl: string): Promise<string> {
  let text = '';
  for (const [title, sql] of Object.entries({ ...kinds, Rows: await rowsQuery(databaseUrl) })) {
    const lines = await query<{ line: string }>(
      databaseUrl,
      `SELECT line FROM (${sql}) AS found (line) ORDER BY line COLLATE "C"`,
    );
    if (lines.length > 0) text += `${title}\n${lines.map(({ line }) => `  ${line}\n`).join('')}\n`;
  }
  return text;
}

/**
 * Returns a query for the rows that migrations insert. The query excludes values that depend on the server or the time,
 * and random values.
 */
async function rowsQuery(databaseUrl: string): Promise<string> {
  const tables = await query<{ name: string }>(
    databaseUrl,
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = ${ours} AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'`,
  );
  return tables
    .map(({ name }) => {
      const row =
        "to_jsonb(t) - 'started_at' - 'began_at' - 'server_started_at' - 'stats_reset_at' - 'system_identifier' - 'installation_id'";
      return `SELECT concat_ws(' ', '${name}', ${row}) FROM "${name}" AS t`;
    })
    .join(' UNION ALL ');
}
