import type { OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRow } from "../rowsOf.ts"

const PrimaryStanding = {
  server: Schema.String,
  identity: Schema.NullOr(Schema.String),
  position: Schema.NullOr(Schema.Number),
}
const decodePrimary = decodeRow(PrimaryStanding)
const decodeStandby = decodeRow({ ...PrimaryStanding, isStandby: Schema.Boolean })
const decodePoint = decodeRow({ server: Schema.String, isStandby: Schema.Boolean, clock: Schema.NullOr(Timestamp) })

/** Identifies a server and its start: no two start within the same microsecond. */
export const SERVER = "extract(epoch from pg_postmaster_start_time())::text"

/** The clock of an organization, which every commit of its recipients and events advances; an index is probed. */
export const CLOCK_OF = (organizationId: string): string =>
  `(select last from organization_clock where organization_id = ${organizationId})`

export const readPrimary = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select ${sql.literal(SERVER)} as server, current_identity() as identity,
      case when not pg_is_in_recovery() then (pg_current_wal_lsn() - '0/0')::double precision end as position`.pipe(
    decodePrimary,
  )
})

/**
 * Reads where a standby stands. The control file knows a new timeline from the first restart point on it, or from the first page written back;
 * `pg_stat_wal_receiver` at once, but tells it to roles with `pg_read_all_stats` alone. The mark is there once its row was replayed.
 */
export const readStandby = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select ${sql.literal(SERVER)} as server, pg_is_in_recovery() as "isStandby",
      (pg_last_wal_replay_lsn() - '0/0')::double precision as position,
      here || '/' || coalesce((select mark from timelines where timeline = here), '') as identity
    from (
      select (select system_identifier from pg_control_system()) || '/' || lpad(upper(to_hex(greatest(
        (select timeline_id from pg_control_checkpoint()),
        (select min_recovery_end_timeline from pg_control_recovery()),
        (select received_tli from pg_stat_wal_receiver)
      ))), 8, '0') as here
    ) control`.pipe(decodeStandby)
})

/** Reads how recent the server of this connection is for an organization. */
export const readReplayPoint = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select ${sql.literal(SERVER)} as server, pg_is_in_recovery() as "isStandby", ${sql.literal(CLOCK_OF("given.id"))} as clock
    from (select ${organizationId}::text as id) given`.pipe(decodePoint)
})
