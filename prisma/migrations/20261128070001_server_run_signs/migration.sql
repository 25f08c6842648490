-- A recovery empties server_runs, because the table is unlogged. Some managed services keep unlogged tables. Therefore,
-- a row also contains two signs of its run: the start time of the server, and the time at which PostgreSQL reset its
-- statistics. A recovery resets the statistics, but not the start time.
ALTER TABLE "server_runs"
  ADD COLUMN "server_started_at" timestamptz(6) NOT NULL DEFAULT pg_postmaster_start_time(),
  ADD COLUMN "stats_reset_at" timestamptz(6) DEFAULT (pg_stat_get_wal()).stats_reset;

-- Returns the time since when the server has been running without a recovery, or null if it is not recorded yet.
CREATE OR REPLACE FUNCTION server_ran_since() RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT greatest(pg_postmaster_start_time(), max(began_at)) FROM server_runs
    WHERE system_identifier = (SELECT system_identifier FROM pg_control_system())
      AND server_started_at = pg_postmaster_start_time()
      AND stats_reset_at IS NOT DISTINCT FROM (pg_stat_get_wal()).stats_reset
    HAVING count(*) > 0);
END
$$;
