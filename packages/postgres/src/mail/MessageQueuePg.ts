import { RecipientId } from "@outreach/domain/Identifier"
import type { DueMessages } from "@outreach/domain/mail/decideClaim"
import { SendingTemplate } from "@outreach/domain/mail/Message"
import { MessageQueue, SEND_RATE_RETENTION_SECONDS } from "@outreach/domain/mail/MessageQueue"
import { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeColumn, only, rowsOf } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"
import { leaseRows, settling } from "./settling.ts"

const templates = rowsOf(SendingTemplate, { campaignName: "campaign.name", programName: "program.name" })
const fieldRows = rowsOf(Schema.Struct({ recipientId: RecipientId, fields: RecipientFields }))
const decodeTokens = decodeColumn({ lease_token: Schema.String })

export const MessageQueuePg = adapter(MessageQueue, function* (sql) {
  return {
    ...(yield* settling),

    lockDue: Effect.fnUntraced(function* (claim, scanLimit) {
      const { limit, perMinute, perDomainMinute, maxPerCampaign = limit, heldByCampaign = {} } = claim
      // Not decoded: 64 messages would take 0.1 of the claim's 5 ms.
      const rows = yield* sql<{ readonly due: DueMessages | null }>`
          select lock_due_messages(
            ${limit}::int, ${scanLimit}::int, ${perMinute}::int, ${perDomainMinute}::int, ${maxPerCampaign}::int,
            ${JSON.stringify(heldByCampaign)}::jsonb) as due`
      return rows[0]!.due
    }),

    lease: Effect.fnUntraced(function* (decision, leaseSeconds) {
      const leases = decision.leases.map(({ organizationId, recipientId }) => ({ organizationId, recipientId }))
      const rows = yield* sql`
          select ${leaseRows.columns}
          from lease_messages(${JSON.stringify({ ...decision, leases })}::jsonb, ${leaseSeconds}::double precision)`.pipe(
        leaseRows.decode,
      )
      return new Map(rows.map(({ recipientId, leaseToken }) => [recipientId, leaseToken]))
    }),

    renew: (leases, leaseSeconds) =>
      sql`
          update messages message set lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision)
          from ${toTable("lease", leases, { organizationId: "text", recipientId: "text", leaseToken: "uuid" })}
          where message.organization_id = lease.organization_id and message.recipient_id = lease.recipient_id
            and message.lease_token = lease.lease_token
          returning lease.lease_token`.pipe(decodeTokens),

    forgetRates: Effect.gen(function* () {
      const before = sql`plausible_now() - make_interval(secs => ${SEND_RATE_RETENTION_SECONDS}::double precision)`
      // Skips locked rows, because a claim locks rates in a different order.
      yield* sql`
          delete from send_rates where scope in (
            select scope from send_rates where next_at < ${before} for update skip locked)`
      yield* sql`delete from domain_pauses where until < ${before}`
    }),

    template: (campaignId) =>
      sql`
          select ${templates.columns} from campaigns campaign
          join programs program on program.organization_id = campaign.organization_id and program.id = campaign.program_id
          where campaign.id = ${campaignId}`.pipe(templates.decode, only),

    // A separate statement, only for campaigns with custom fields: docs/decisions/0022-the-keys-of-a-recipient-are-in-a-separate-table.md.
    fields: Effect.fnUntraced(function* (leases) {
      const rows = yield* sql`
          select ${fieldRows.columns}
          from ${toTable("lease", leases, { organizationId: "text", recipientId: "text" })}
          join recipient_fields using (organization_id, recipient_id)`.pipe(fieldRows.decode)
      return new Map(rows.map(({ recipientId, fields }) => [recipientId, fields]))
    }),

    forgetAttempts: (days) =>
      forgetRows(sql, "message_attempts", {
        key: ["organization_id", "recipient_id", "number", "outcome"],
        where: sql`last_at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(last_at)`,
        orderBy: "last_at",
        limit: FORGET_BATCH_SIZE,
      }),
  }
})

const FORGET_BATCH_SIZE = 1000
