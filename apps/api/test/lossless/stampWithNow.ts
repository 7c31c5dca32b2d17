import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets every stamp be plain `now()`, the start of its transaction, with no lock held to the commit: what a service has that
 * does without an organization clock.
 *
 * The clock's table becomes a view, so that the writers run the same statements, and nobody counts for the digest, whose row
 * they would wait for instead. Organizations are made before.
 */
export const stampWithNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table organization_clock rename to stopped_clock`
  yield* sql`create view organization_clock as select organization_id, last from stopped_clock`
  yield* sql`
    create function stamp_with_now() returns trigger language plpgsql as $$ begin
      new.last := now();
      return new;
    end $$`
  yield* sql`
    create trigger stamp_with_now instead of update on organization_clock
    for each row execute function stamp_with_now()`
  yield* sql`
    create function count_nothing() returns trigger language plpgsql as $$ begin
      return null;
    end $$`
  yield* sql`
    create trigger count_nothing before insert on digest_outreach
    for each row execute function count_nothing()`
})
