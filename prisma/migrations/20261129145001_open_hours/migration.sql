-- The intervals in which a workspace with business hours is open, in order and without overlaps.
CREATE TABLE "open_hours" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "opens_at" timestamptz(3) NOT NULL,
  "closes_at" timestamptz(3) NOT NULL,
  "open_before" bigint NOT NULL,
  PRIMARY KEY ("tenant_id", "opens_at"),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX "open_hours_tenant_id_open_before_idx" ON "open_hours" ("tenant_id", "open_before");
SELECT protect_table('open_hours', 'SELECT, INSERT, UPDATE, DELETE');

-- Derives the open hours of a tenant from its calendar. Writes only the rows that differ. The first day is two years
-- before the given instant, or the first day of the existing rows if it is earlier. The last day is three years after
-- the instant. In an interval of each end of the table, every minute is open. The day before the first one can have an
-- interval that ends on the first one. If a change of the clocks reverses the ends of an interval, the interval is empty.
CREATE FUNCTION write_open_hours(owner bigint, at timestamptz) RETURNS void LANGUAGE sql AS $$
  WITH calendar AS MATERIALIZED (
    SELECT business_hours AS hours, business_hours ->> 'timeZone' AS zone,
      least(
        (SELECT closes_at AT TIME ZONE (business_hours ->> 'timeZone') FROM open_hours
          WHERE tenant_id = owner ORDER BY opens_at LIMIT 1),
        at AT TIME ZONE (business_hours ->> 'timeZone') - interval '2 years'
      )::date::timestamp AS first_day,
      (at AT TIME ZONE (business_hours ->> 'timeZone') + interval '3 years')::date::timestamp AS last_day
    FROM ticket_sequences WHERE tenant_id = owner AND business_hours IS NOT NULL
  ), intervals AS (
    SELECT (day + opens) AT TIME ZONE zone AS opens_at,
      (day + closes + CASE WHEN closes > opens THEN '0' ELSE interval '24 hours' END) AT TIME ZONE zone AS closes_at
    FROM calendar, generate_series(first_day - interval '1 day', last_day, '1 day') AS day,
      jsonb_to_recordset(hours -> 'intervals') AS given (weekday text, opens interval, closes interval)
    WHERE weekday = to_char(day, 'FMDAY') AND day::date NOT IN (
      SELECT date FROM calendar, jsonb_to_recordset(hours -> 'holidays') AS holiday (date date))
    UNION ALL SELECT '0001-01-01T00:00:00Z', first_day AT TIME ZONE zone FROM calendar
    UNION ALL SELECT (last_day + interval '1 day') AT TIME ZONE zone, '9999-12-31T00:00:00Z' FROM calendar
  ), merged AS (
    SELECT unnest(range_agg(tstzrange(opens_at, closes_at))) AS open FROM intervals WHERE opens_at < closes_at
  ), written AS MATERIALIZED (
    SELECT lower(open) AS opens_at, upper(open) AS closes_at, coalesce(sum(extract(epoch FROM upper(open) - lower(open)) * 1000)
      OVER (ORDER BY open ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint AS open_before
    FROM merged
  ), deleted AS (
    DELETE FROM open_hours WHERE tenant_id = owner AND opens_at NOT IN (SELECT opens_at FROM written)
  )
  INSERT INTO open_hours (tenant_id, opens_at, closes_at, open_before)
  SELECT owner, w.* FROM written AS w WHERE NOT EXISTS (SELECT FROM open_hours AS o WHERE o.tenant_id = owner
    AND (o.opens_at, o.closes_at, o.open_before) = (w.opens_at, w.closes_at, w.open_before))
  ON CONFLICT (tenant_id, opens_at) DO UPDATE SET closes_at = EXCLUDED.closes_at, open_before = EXCLUDED.open_before
$$;

-- Returns the due date of each priority in the order of the priorities: the instant at which its target and the paused
-- time have passed since the creation of a ticket. If they end with an interval, the due date is its end. Without a
-- target, the due date is null.
CREATE FUNCTION due_dates(owner bigint, created timestamptz, targets jsonb, priorities text[], paused bigint)
RETURNS timestamptz[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  begun CONSTANT bigint := (
    SELECT open_before + (extract(epoch FROM least(created, closes_at) - opens_at) * 1000)::bigint
    FROM open_hours WHERE tenant_id = owner AND opens_at <= created ORDER BY opens_at DESC LIMIT 1);
  -- With the expression instead of the variable in the condition, row-level security would prevent the use of the index.
  total bigint;
  dates timestamptz[];
BEGIN
  FOR place IN 1 .. cardinality(priorities) LOOP
    total := begun + (targets ->> priorities[place])::bigint * 60000 + coalesce(paused, 0);
    dates[place] := (
      SELECT opens_at + (total - open_before) * interval '1 millisecond'
      FROM open_hours WHERE tenant_id = owner AND open_before < total ORDER BY open_before DESC LIMIT 1);
  END LOOP;
  RETURN dates;
END
$$;

-- Returns the open time between two instants in milliseconds. Without a calendar, every minute is open.
CREATE FUNCTION open_time_between(owner bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  totals bigint[] := ARRAY(
    SELECT total FROM unnest(ARRAY[since, until]) WITH ORDINALITY AS given (at, place), LATERAL (
      SELECT open_before + (extract(epoch FROM least(at, closes_at) - opens_at) * 1000)::bigint AS total
      FROM open_hours WHERE tenant_id = owner AND opens_at <= at ORDER BY opens_at DESC LIMIT 1
    ) AS begun ORDER BY place);
BEGIN
  RETURN greatest(0, coalesce(totals[2] - totals[1], (extract(epoch FROM until - since) * 1000)::bigint));
END
$$;
