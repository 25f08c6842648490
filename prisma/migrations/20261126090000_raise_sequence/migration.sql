-- Raises a sequence past an imported id (docs/decisions/tenant-transfer.md). Usually calls nextval, because setval could
-- undo concurrent calls of nextval. If a million ids or more are missing, calls setval, because nextval would take
-- minutes, and because no server uses a million ids between the check and setval. The lock ensures that two imports don't
-- set the same sequence at the same time.
CREATE OR REPLACE FUNCTION raise_sequence(sequence regclass, id bigint) RETURNS void
LANGUAGE plpgsql STRICT SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  last bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('raise_sequence', 0));
  EXECUTE format('SELECT last_value FROM %s', sequence) INTO last;
  IF last < id - 1000000 THEN
    PERFORM setval(sequence, id);
  END IF;
  WHILE nextval(sequence) < id LOOP
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION raise_sequence(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION raise_sequence(regclass, bigint) TO itsm_system;
