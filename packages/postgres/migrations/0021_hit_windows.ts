import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How often a link was asked for from one address in a clock minute; unlogged, so that a crash gives at most one fresh minute. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create unlogged table hit_windows (
      window_start timestamptz not null,
      organization_id text collate "C" not null,
      recipient_id text collate "C" not null,
      address text not null,
      link_hash bytea not null,
      hits int not null,
      primary key (window_start, organization_id, recipient_id, address, link_hash)
    )`
  // Hits that followed within the minute and have no row of their own.
  yield* sql`alter table hits add column repeats int not null default 0`
})
