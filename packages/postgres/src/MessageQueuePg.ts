import type { Deployment } from "@outreach/domain/Deployment"
import type { MessageLease, MessageTemplate } from "@outreach/domain/outreach/Message"
import { MessageQueue } from "@outreach/domain/outreach/MessageQueue"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"
import { stamp } from "./OrganizationClock.ts"
import { publishEvent } from "./publishEvent.ts"

/** Keeps the messages to send in PostgreSQL. */
export const MessageQueuePg = Layer.effect(
  MessageQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | Deployment>()

    return {
      claim: ({ limit, leaseSeconds }) =>
        sql<MessageLease>`
          with due as (
            select message.organization_id, message.recipient_id
            from campaigns campaign
            cross join lateral (
              select organization_id, recipient_id, due_at from messages
              where organization_id = campaign.organization_id and campaign_id = campaign.id
                and due_at <= clock_timestamp() and (lease_until is null or lease_until < clock_timestamp())
              order by due_at, recipient_id limit ${limit} for update skip locked
            ) message
            where campaign.status = 'sending'
              and campaign.window_start <= clock_timestamp() and campaign.window_end > clock_timestamp()
            order by message.due_at, message.recipient_id
            limit ${limit}
          ), leased as (
            update messages message
            set lease_token = gen_random_uuid(),
              lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision)
            from due
            where message.organization_id = due.organization_id and message.recipient_id = due.recipient_id
            returning message.*
          )
          select leased.organization_id as "organizationId", leased.campaign_id as "campaignId",
            recipient.program_id as "programId", leased.recipient_id as "recipientId", leased.lease_token as "leaseToken",
            recipient.token, recipient.email, leased.attempts + 1 as attempt
          from leased
          join recipients recipient
            on recipient.organization_id = leased.organization_id and recipient.id = leased.recipient_id`.pipe(
          dieNaming("MessageQueue.claim"),
        ),

      template: Effect.fnUntraced(function* (campaignId) {
        const rows = yield* sql<MessageTemplate>`
          select subject, html, campaign.name as "campaignName", program.name as "programName"
          from campaigns campaign
          join programs program on program.organization_id = campaign.organization_id and program.id = campaign.program_id
          where campaign.id = ${campaignId}`
        return rows[0]!
      }, dieNaming("MessageQueue.template")),

      settle: Effect.fnUntraced(
        function* (lease, settlement) {
          const { organizationId, recipientId, leaseToken } = lease
          if (settlement.state === "retry") {
            const rows = yield* sql`
              update messages set attempts = ${settlement.attempts}, lease_token = null, lease_until = null,
                due_at = clock_timestamp() + make_interval(secs => ${settlement.delaySeconds}::double precision)
              where organization_id = ${organizationId} and recipient_id = ${recipientId} and lease_token = ${leaseToken}
              returning recipient_id`
            return rows.length === 1
          }
          const rows = yield* sql`
            delete from messages
            where organization_id = ${organizationId} and recipient_id = ${recipientId} and lease_token = ${leaseToken}
            returning recipient_id`
          if (rows.length === 0) return false
          // Rows are locked before the clock is, here as everywhere, so that no two writers wait for each other.
          yield* sql`
            select from recipients where organization_id = ${organizationId} and id = ${recipientId} for update`
          const at = yield* stamp(organizationId)
          yield* sql`
            update recipients set updated_at = ${at}::timestamptz, last_event_at = ${at}::timestamptz,
              sent_at = case when ${settlement.state} = 'sent' then ${at}::timestamptz else sent_at end,
              bounced_at = case when ${settlement.state} = 'bounced' then ${at}::timestamptz else bounced_at end
            where organization_id = ${organizationId} and id = ${recipientId}`
          yield* publishEvent(settlement.event, at)
          return true
        },
        sql.withTransaction,
        Effect.provideContext(context),
        dieNaming("MessageQueue.settle"),
      ),
    }
  }),
)
