import { BounceRepository } from "@outreach/domain/mail/returned/Bounces"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { countFeedback, deleteMessages } from "../campaigns/campaignChanges.ts"
import { Hints } from "../events/Hints.ts"
import { first, rowsOf } from "../rowsOf.ts"

const recipients = rowsOf(Recipient)
const messageRows = rowsOf(Schema.Struct({ unknownOutcomes: Schema.Int, isLeased: Schema.Boolean }), {
  isLeased: "coalesce(lease_until >= clock_timestamp(), false)",
})

export const BounceRepositoryPg = adapter(BounceRepository, function* (sql) {
  const hints = yield* Hints
  return {
    lock: Effect.fnUntraced(function* (recipientId) {
      // A return path doesn't contain the organization, so the key is probed for each organization. A recipient who is erased while this
      // waits for the lock isn't returned.
      const recipient = yield* sql`
        select ${recipients.columnsOf("recipient")} from organizations organization
        join recipients recipient on recipient.organization_id = organization.id and recipient.id = ${recipientId}
        where erased_at is null for update of recipient`.pipe(recipients.decode, first)
      if (recipient === undefined) return undefined
      const { organizationId } = recipient
      if (recipient.sentAt !== null || recipient.bouncedAt !== null) return { recipient, message: undefined }
      const messages = yield* sql`
        select ${messageRows.columns} from messages
        where organization_id = ${organizationId} and recipient_id = ${recipientId} for update`.pipe(messageRows.decode)
      return { recipient, message: messages[0] }
    }),

    storeBounce: Effect.fnUntraced(function* ({ recipient: { organizationId, campaignId, id }, message }, reply) {
      if (message !== undefined) {
        yield* deleteMessages(sql, sql`organization_id = ${organizationId} and recipient_id = ${id}`)
      }
      if (reply !== null) {
        yield* sql`
            insert into message_attempts (organization_id, recipient_id, number, outcome, reply)
            values (${organizationId}, ${id}, 0, 'bounced', ${reply}) on conflict do nothing`
      }
      yield* sql`
          insert into campaign_count_changes (organization_id, campaign_id, refused_later)
          select organization_id, campaign_id, -1 from late_refusals
          where organization_id = ${organizationId} and campaign_id = ${campaignId} and recipient_id = ${id}`
    }),

    storeLateRefusal: Effect.fnUntraced(function* ({ organizationId, campaignId, id, email }, cause, reply) {
      const rows = yield* sql`
          with refusal as (
            insert into late_refusals (organization_id, campaign_id, recipient_id, cause)
            values (${organizationId}, ${campaignId}, ${id}, ${cause}) on conflict do nothing
            returning organization_id, campaign_id, recipient_id
          ), attempted as (
            insert into message_attempts (organization_id, recipient_id, number, outcome, reply)
            select organization_id, recipient_id, 0, 'refused', ${reply}::text from refusal on conflict do nothing
          ), tallied as (
            insert into campaign_count_changes (organization_id, campaign_id, refused_later)
            select organization_id, campaign_id, 1 from refusal
          )
          select 1 from refusal`
      if (rows.length > 0 && reply !== null) {
        yield* sql`
            update campaign_domains set last_reply = ${reply}, last_reply_at = clock_timestamp()
            where organization_id = ${organizationId} and campaign_id = ${campaignId} and domain = ${domainOf(email)}`
      }
      return rows.length > 0
    }),

    storeComplaint: ({ organizationId, campaignId, id }, feedbackType) =>
      sql`
        with stored as (
          insert into complaints (organization_id, campaign_id, recipient_id, feedback_type)
          values (${organizationId}, ${campaignId}, ${id}, ${feedbackType})
          on conflict do nothing returning organization_id, recipient_id, reported_at as at
        ), counted as (${countFeedback("complained", 1, "select * from stored")})
        select from stored`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.tap(hints.give("campaigns")),
      ),
  }
})
