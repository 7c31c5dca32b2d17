import type { RecipientId } from "@outreach/domain/Identifier"
import { BounceRepository } from "@outreach/domain/mail/returned/BounceRepository"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect, Schema, Struct } from "effect"
import { adapter } from "../adapter.ts"
import { countFeedback, deleteMessages } from "../campaigns/campaignChanges.ts"
import { decodeRecipients, recipientColumns } from "../recipients/recipientRows.ts"
import { first, rowsOf } from "../rowsOf.ts"

const states = rowsOf(Recipient.mapFields(Struct.pick(["sentAt", "bouncedAt"])))
const messageRows = rowsOf(Schema.Struct({ unknownOutcomes: Schema.Int, isLeased: Schema.Boolean }), {
  isLeased: "coalesce(lease_until >= clock_timestamp(), false)",
})

export const BounceRepositoryPg = adapter(BounceRepository, (sql) => {
  // A return path doesn't contain the organization, so the key is probed for each organization.
  const find = (recipientId: RecipientId) =>
    sql`
        select recipient.* from organizations organization
        cross join lateral (
          select ${recipientColumns} from recipients
          where organization_id = organization.id and id = ${recipientId} and erased_at is null
        ) recipient`.pipe(decodeRecipients, first)

  return {
    lock: Effect.fnUntraced(function* (recipientId) {
      const known = yield* find(recipientId)
      if (known === undefined) return undefined
      const { organizationId } = known
      const rows = yield* sql`
          select ${states.columns}
          from recipients where organization_id = ${organizationId} and id = ${recipientId} and erased_at is null for update`.pipe(
        states.decode,
      )
      // The recipient was erased while this waited for the lock, so the earlier data must not be written.
      if (rows[0] === undefined) return undefined
      const recipient = { ...known, ...rows[0] }
      if (recipient.sentAt !== null || recipient.bouncedAt !== null) return { recipient, message: undefined }
      const messages = yield* sql`
          select ${messageRows.columns} from messages
          where organization_id = ${organizationId} and recipient_id = ${recipientId} for update`.pipe(
        messageRows.decode,
      )
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

    storeComplaint: Effect.fnUntraced(function* ({ organizationId, campaignId, id }, feedbackType) {
      const rows = yield* sql`
          with stored as (
            insert into complaints (organization_id, campaign_id, recipient_id, feedback_type)
            values (${organizationId}, ${campaignId}, ${id}, ${feedbackType})
            on conflict do nothing returning organization_id, recipient_id, reported_at as at
          ), counted as (${countFeedback("complained", 1, "select * from stored")})
          select from stored`
      return rows.length > 0
    }),
  }
})
