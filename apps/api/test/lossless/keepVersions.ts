import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets the database note every version of a recipient that is committed, and how long its transaction took.
 *
 * The trigger is deferred to the commit, so that the pauses of a transaction are in its time; what rolls back leaves no note.
 */
export const keepVersions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table recipient_versions (
      organization_id text collate "C", id text collate "C", updated_at timestamptz, took interval)`
  yield* sql`
    create function keep_version() returns trigger language plpgsql as $$ begin
      insert into recipient_versions
      values (new.organization_id, new.id, new.updated_at, clock_timestamp() - transaction_timestamp());
      return null;
    end $$`
  yield* sql`
    create constraint trigger keep_version after insert or update on recipients
    deferrable initially deferred for each row execute function keep_version()`
})
