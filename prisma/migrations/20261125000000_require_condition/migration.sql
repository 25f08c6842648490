-- Raises IT001 unless the condition holds, so that a statement can end its transaction (server/src/database/transaction.ts).
CREATE FUNCTION "require_condition"("condition" boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF "condition" IS NOT TRUE THEN
    RAISE EXCEPTION 'A condition of the transaction does not hold.' USING ERRCODE = 'IT001';
  END IF;
END
$$;
