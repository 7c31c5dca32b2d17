import type { OrganizationId } from "@outreach/domain/Identifier"
import { type InboxEntry, InboxEntryNotFound, InboxLedger, NotQuarantined } from "@outreach/domain/inbox/InboxLedger"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Reads the inbox of PostgreSQL, and lets quarantined events be applied again. */
export const InboxLedgerPg = Layer.effect(
  InboxLedger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      organization_id as "organizationId", event_id as "eventId", endpoint_id as "endpointId", type,
      case when applied_at is not null then 'applied' when quarantined_at is not null then 'quarantined' else 'waiting' end as state,
      reason, received_at as "receivedAt", applied_at as "appliedAt", quarantined_at as "quarantinedAt", differing`)

    const find = Effect.fnUntraced(function* (organizationId: OrganizationId, eventId: string) {
      const rows = yield* sql<InboxEntry & { body: string }>`
        select ${columns}, body from inbox where organization_id = ${organizationId} and event_id = ${eventId}`
      return rows[0] ?? (yield* new InboxEntryNotFound({ organizationId, eventId }))
    })

    return {
      // One range of an index for each organization: those who applied everything cost nothing.
      list: Effect.fn("InboxLedger.list")(
        (state, limit, organizationId) =>
          state === "waiting"
            ? sql<InboxEntry>`
                select ${columns} from organizations
                cross join lateral (
                  select * from inbox where organization_id = organizations.id and applied_at is null and quarantined_at is null
                  order by received_at, event_id limit ${limit}
                ) waiting
                where ${organizationId ?? null}::text is null or organizations.id = ${organizationId ?? null}
                order by received_at, organization_id, event_id limit ${limit}`
            : sql<InboxEntry>`
                select ${columns} from organizations
                cross join lateral (
                  select * from inbox where organization_id = organizations.id and quarantined_at is not null
                  order by quarantined_at, event_id limit ${limit}
                ) quarantined
                where ${organizationId ?? null}::text is null or organizations.id = ${organizationId ?? null}
                order by quarantined_at, organization_id, event_id limit ${limit}`,
        orDieAs("InboxLedger.list"),
      ),

      find: Effect.fn("InboxLedger.find")(find, orDieAs("InboxLedger.find")),

      replay: Effect.fn("InboxLedger.replay")(function* (organizationId, eventId) {
        const rows = yield* sql`
          update inbox set quarantined_at = null, reason = null
          where organization_id = ${organizationId} and event_id = ${eventId} and quarantined_at is not null returning 1`
        if (rows.length > 0) return
        return yield* new NotQuarantined({ eventId, state: (yield* find(organizationId, eventId)).state })
      }, orDieAs("InboxLedger.replay")),

      replayAll: Effect.fn("InboxLedger.replayAll")(function* (organizationId) {
        const rows = yield* sql<{ replayed: number }>`
          with replayed as (
            update inbox set quarantined_at = null, reason = null
            where organization_id = ${organizationId} and quarantined_at is not null returning 1
          )
          select count(*)::int as replayed from replayed`
        return rows[0]!.replayed
      }, orDieAs("InboxLedger.replayAll")),
    }
  }),
)
