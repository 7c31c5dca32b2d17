import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { InboxApplier } from "@outreach/domain/inbox/InboxApplier"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isTransient, orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { holdRecipients, tryToWithdrawAlone, withdraw } from "../suppressions/withdraw.ts"
import { applyInboxBatch, NOTHING, quarantine, type Read } from "./applyInboxBatch.ts"

/** Applies inbound events in PostgreSQL, an organization's one after another and each batch in one transaction. */
export const InboxApplierPg = Layer.effect(
  InboxApplier,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const provided = Effect.provideService(SqlClient.SqlClient, sql)

    return {
      organizations: sql<{ id: OrganizationId }>`
        select id from organizations organization
        where exists (
          select from inbox where organization_id = organization.id and applied_at is null and quarantined_at is null
        ) or exists (
          select from programs program
          where program.organization_id = organization.id and quota_reached(program.organization_id, program.id)
            and exists (
              select from recipients where organization_id = program.organization_id and program_id = program.id
                and sent_at is null and bounced_at is null and withdrawn_at is null)
        )
        order by id`.pipe(
        Effect.map((rows) => rows.map(({ id }) => id)),
        orDieAs("InboxApplier.organizations"),
      ),

      applyNext: Effect.fnUntraced(
        function* (organizationId, limit, read) {
          const events = yield* sql<{ eventId: string }>`
            select event_id as "eventId" from inbox
            where organization_id = ${organizationId} and applied_at is null and quarantined_at is null
            order by received_at, event_id limit ${limit}`
          const ids = events.map(({ eventId }) => eventId)
          return yield* Effect.catchIf(applyInboxBatch(organizationId, ids, read), isLasting, () =>
            applyOneByOne(organizationId, ids, read),
          )
        },
        provided,
        orDieAs("InboxApplier.applyNext"),
      ),

      withdrawReached: Effect.fnUntraced(
        function* (organizationId, limit) {
          if (!(yield* tryToWithdrawAlone(organizationId))) return 0
          const rest = yield* sql<{ id: RecipientId }>`
            select recipient.id from programs program
            cross join lateral (
              select id from recipients
              where organization_id = program.organization_id and program_id = program.id
                and sent_at is null and bounced_at is null and withdrawn_at is null
              limit ${limit}
            ) recipient
            where program.organization_id = ${organizationId} and quota_reached(program.organization_id, program.id)
            limit ${limit}`
          if (rest.length === 0) return 0
          const ids = rest.map(({ id }) => id)
          const inFlight = yield* holdRecipients(organizationId, ids)
          const free = ids.filter((id) => !inFlight.has(id)).map((id) => ({ id, reason: "quota_reached" as const }))
          return free.length === 0 ? 0 : yield* withdraw(organizationId, free, yield* commitTimestamp(organizationId))
        },
        sql.withTransaction,
        provided,
        orDieAs("InboxApplier.withdrawReached"),
      ),
    }
  }),
)

/** Tells a failure that the same statements would meet again. */
const isLasting = ({ reason }: SqlError.SqlError): boolean => !isTransient(reason)

/** Finds out which event it was that failed together with others, and quarantines that one. */
const applyOneByOne = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  ids: ReadonlyArray<string>,
  read: Read,
) {
  let sum = NOTHING
  for (const id of ids) {
    const one = yield* Effect.catchIf(applyInboxBatch(organizationId, [id], read), isLasting, ({ reason }) =>
      quarantine(organizationId, [{ eventId: id, reason: `it could not be applied: ${reason._tag}` }]),
    )
    // Somebody else is at it by now; what was done here is told all the same.
    if (one === undefined) return sum
    sum = {
      applied: sum.applied + one.applied,
      quarantined: [...sum.quarantined, ...one.quarantined],
      waiting: one.waiting,
      unattributed: [...sum.unattributed, ...one.unattributed],
      reached: [...sum.reached, ...one.reached],
    }
    // Whoever comes after it may be the same clinician.
    if (one.waiting > 0) return sum
  }
  return sum
})
