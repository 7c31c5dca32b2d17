import type { Deployment } from "@outreach/domain/Deployment"
import type { RecipientId } from "@outreach/domain/Identifier"
import { type BounceRecording, BounceRepository } from "@outreach/domain/mail/BounceRepository"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import type { Hints } from "../events/Hints.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { recipientColumns } from "../recipients/recipientColumns.ts"
import { pauseDomains } from "./pauseDomains.ts"

/** Records late bounces in PostgreSQL. */
export const BounceRepositoryPg = Layer.effect(
  BounceRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | Deployment | Hints>()

    // A return path has no room for the organization: one probe of the key for each finds it.
    const find = Effect.fnUntraced(function* (recipientId: RecipientId) {
      const rows = yield* sql<Recipient>`
        select recipient.* from organizations organization
        cross join lateral (
          select ${sql.literal(recipientColumns)} from recipients
          where organization_id = organization.id and id = ${recipientId}
        ) recipient`
      return rows[0]
    })

    return {
      record: Effect.fnUntraced(
        function* (recipientId, compose) {
          const recipient = yield* find(recipientId)
          if (recipient === undefined) return "unknown" satisfies BounceRecording
          const { organizationId } = recipient
          const rows = yield* sql<{ sent: boolean; bounced: boolean }>`
            select sent_at is not null as sent, bounced_at is not null as bounced
            from recipients where organization_id = ${organizationId} and id = ${recipientId} for update`
          const { sent, bounced } = rows[0]!
          if (bounced) return "repeated" satisfies BounceRecording
          if (!sent) {
            const messages = yield* sql<{ taken: boolean }>`
              select unknown_outcomes > 0 and (lease_until is null or lease_until < clock_timestamp()) as taken from messages
              where organization_id = ${organizationId} and recipient_id = ${recipientId} for update`
            if (messages[0] === undefined) return "unknown" satisfies BounceRecording
            // The report is the answer that a message with an unknown outcome never got.
            if (!messages[0].taken) return "early" satisfies BounceRecording
            yield* sql`delete from messages where organization_id = ${organizationId} and recipient_id = ${recipientId}`
          }
          const at = yield* commitTimestamp(organizationId)
          yield* sql`
            update recipients set bounced_at = ${at}::timestamptz, last_event_at = ${at}::timestamptz, updated_at = ${at}::timestamptz
            where organization_id = ${organizationId} and id = ${recipientId}`
          yield* publishEvents([compose(recipient)], at)
          return "recorded" satisfies BounceRecording
        },
        sql.withTransaction,
        Effect.provideContext(context),
        orDieAs("BounceRepository.record"),
      ),

      pauseDomain: Effect.fnUntraced(
        function* (recipientId, status, seconds) {
          const recipient = yield* find(recipientId)
          if (recipient === undefined) return
          const { organizationId, campaignId, email } = recipient
          yield* pauseDomains(organizationId, [{ campaignId, email, status, delaySeconds: seconds }])
        },
        Effect.provideContext(context),
        orDieAs("BounceRepository.pauseDomain"),
      ),
    }
  }),
)
