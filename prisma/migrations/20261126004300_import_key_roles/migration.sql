-- An import key works only while its user is an administrator, so a changed role must also reach the cached keys.
CREATE OR REPLACE TRIGGER users_notify_api_keys AFTER DELETE OR UPDATE OF active, role ON users
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
