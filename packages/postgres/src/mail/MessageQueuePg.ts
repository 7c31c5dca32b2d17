import { BOUNCE_REASONS } from "@outreach/contract/names"
import { type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { MessageTemplate } from "@outreach/domain/mail/Message"
import {
  type DueMessages,
  MessageQueue,
  type RetrySettlement,
  type SettledMessage,
} from "@outreach/domain/mail/MessageQueue"
import { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Array as Arr, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { adapter } from "../adapter.ts"
import { countMessages, MESSAGE_STATE } from "../campaigns/campaignChanges.ts"
import { decodeColumn, decodeValue, only, rowsOf, toTable } from "../rowsOf.ts"

const leaseRows = rowsOf(Schema.Struct({ recipientId: RecipientId, leaseToken: Schema.String }))
const templates = rowsOf(MessageTemplate, { campaignName: "campaign.name", programName: "program.name" })
const fieldRows = rowsOf(Schema.Struct({ recipientId: RecipientId, fields: RecipientFields }))
const decodeWait = decodeValue({ ms: Schema.Number })
const decodeTokens = decodeColumn({ lease_token: Schema.String })

const LEASE = { recipientId: "text", leaseToken: "uuid" } as const
const ANSWERS = ["sent", "deferred", "refused", ...BOUNCE_REASONS]

export const MessageQueuePg = adapter(MessageQueue, (sql) => {
  /** Locks recipients in the statement that settles their messages, to save a round trip. */
  const withRecipients = (organizationId: OrganizationId, recipientIds: ReadonlyArray<RecipientId>) => sql`
    with recipient as materialized (
      select from recipients where organization_id = ${organizationId} and id = any (${recipientIds}::text[])
      order by id for update
    )`
  const areLocked = sql.literal("(select count(*) from recipient) > 0")

  /** Records attempts and counts in the statement that settles their messages. Only a transaction that has locked the recipient writes an attempt. */
  const recordAttempts = (
    organizationId: OrganizationId,
    messages: ReadonlyArray<SettledMessage>,
    changedMessages: string,
  ): Statement.Fragment => {
    const attempts = messages.flatMap(({ lease: { recipientId, leaseToken, attempt: number }, attempt }) =>
      attempt === undefined
        ? []
        : [{ recipientId, leaseToken, number, outcome: attempt.outcome, reply: attempt.reply ?? "" }],
    )
    const types = { ...LEASE, number: "int", outcome: "text", reply: "text" } as const
    return sql`
      recorded as (
        insert into message_attempts as kept (organization_id, recipient_id, number, outcome, reply)
        select ${organizationId}, recipient_id, number, outcome, nullif(reply, '')
        from settled join ${toTable("attempt", attempts, types)} using (recipient_id, lease_token)
        on conflict (organization_id, recipient_id, number, outcome)
        do update set times = kept.times + 1, last_at = excluded.last_at, reply = excluded.reply
      ), tallied as (${countMessages(changedMessages)})
      select ${leaseRows.columns} from settled`
  }

  return {
    putBack: Effect.fnUntraced(function* (organizationId, recipientIds, messages) {
      const changed = `
        select 1 as sign, organization_id, campaign_id, attempts, unknown_outcomes, quarantined_at from settled
        union all
        select -1, organization_id, campaign_id, attempts_before, unknown_outcomes - unknown, null from settled`
      const retries = toTable("retry", messages.map(toRetry), {
        ...{ ...LEASE, attempts: "int", delay: "int", unknown: "int" },
        ...{ failureClass: "text", failureCode: "text", attemptsBefore: "int" },
      })
      return yield* sql`
        ${withRecipients(organizationId, recipientIds)}, settled as (
          update messages message set attempts = retry.attempts, lease_token = null, lease_until = null,
            due_at = coalesce(clock_timestamp() + make_interval(secs => nullif(retry.delay, -1)), 'infinity'),
            unknown_outcomes = unknown_outcomes + retry.unknown,
            quarantined_at = case when retry.delay = -1 then clock_timestamp() end,
            failure_class = coalesce(nullif(retry.failure_class, ''), case when unknown_outcomes > 0 then message.failure_class end),
            failure_code = coalesce(nullif(retry.failure_code, ''), case when unknown_outcomes > 0 then message.failure_code end)
          from ${retries}
          where message.organization_id = ${organizationId} and message.recipient_id = retry.recipient_id
            and message.lease_token = retry.lease_token and ${areLocked}
          returning message.recipient_id, retry.lease_token, ${MESSAGE_STATE}, attempts_before, unknown
        ), ${recordAttempts(organizationId, messages, changed)}`.pipe(leaseRows.decode)
    }),

    takeOut: Effect.fnUntraced(function* (organizationId, recipientIds, messages) {
      const leases = messages.map(({ lease }) => lease)
      return yield* sql`
        ${withRecipients(organizationId, recipientIds)}, settled as (
          delete from messages message
          using ${toTable("final", leases, LEASE)}
          where message.organization_id = ${organizationId} and message.recipient_id = final.recipient_id
            and message.lease_token = final.lease_token and ${areLocked}
          returning message.recipient_id, final.lease_token, ${MESSAGE_STATE}
        ), ${recordAttempts(organizationId, messages, "select -1 as sign, settled.* from settled")}`.pipe(
        leaseRows.decode,
      )
    }),

    // In a fixed order to avoid deadlocks. Counts and pauses share a statement, so that each row is locked once.
    countAnswers: (organizationId, answers) => {
      const rows = answers.map(({ campaignId, email, answer, reply, pause }) => ({
        ...{ campaignId, domain: domainOf(email), answer: answer ?? "", reply: reply ?? "" },
        ...{ pauseStatus: pause?.status ?? "", pauseSeconds: pause?.seconds ?? 0 },
      }))
      const types = { campaignId: "text", domain: "text", answer: "text", reply: "text", pauseStatus: "text" } as const
      const list = (write: (answer: string) => string) => sql.literal(ANSWERS.map(write).join(", "))
      const newest = ["last_reply", "last_reply_at", "pause_status", "paused_until"]
      return sql`
        insert into campaign_domains as kept (
          organization_id, campaign_id, domain, ${list((answer) => answer)}, ${sql.literal(newest.join(", "))})
        select ${organizationId}, campaign_id, domain, ${list((answer) => `count(*) filter (where answer = '${answer}')`)},
          (array_agg(reply order by place desc) filter (where reply <> ''))[1],
          case when bool_or(reply <> '') then clock_timestamp() end, nullif(max(pause_status), ''),
          clock_timestamp() + make_interval(secs => nullif(max(pause_seconds), 0))
        from ${toTable("answer", rows, { ...types, pauseSeconds: "int" }, { position: "place" })}
        group by campaign_id, domain order by campaign_id, domain
        on conflict (organization_id, campaign_id, domain) do update set
          ${list((answer) => `${answer} = kept.${answer} + excluded.${answer}`)},
          ${sql.literal(newest.map((column) => `${column} = coalesce(excluded.${column}, kept.${column})`).join(", "))}`
    },

    giveBackToRamps: Effect.fnUntraced(function* (organizationId, days) {
      const groups = Object.entries(Arr.groupBy(days, ({ senderId, day }) => `${senderId} ${day}`))
      // In a fixed order to avoid deadlocks between workers.
      for (const [, group] of groups.sort(([one], [other]) => (one < other ? -1 : 1))) {
        yield* sql`
          update senders set ramp_sent = greatest(0, ramp_sent - ${group.length}::int)
          where organization_id = ${organizationId} and id = ${group[0].senderId} and ramp_counted_on = ${group[0].day}::date`
      }
    }),

    // Each statement is a separate transaction, so that no row is locked while it waits for a claim that has locked the turn.
    bringTurnsForward: (organizationId, delays) => {
      const statements = [...delays].flatMap(([campaignId, seconds]) => {
        const at = sql`clock_timestamp() + make_interval(secs => ${seconds}::int)`
        return [
          sql`
            update campaign_turns set next_at = ${at}
            where organization_id = ${organizationId} and campaign_id = ${campaignId} and next_at > ${at}`,
          sql`update organization_turns set next_at = ${at} where organization_id = ${organizationId} and next_at > ${at}`,
        ]
      })
      return Effect.ignore(Effect.all(statements, { discard: true }))
    },

    lockDue: Effect.fnUntraced(function* (claim, scanLimit) {
      const { limit, perMinute, perDomainMinute, maxPerCampaign = limit, heldByCampaign = {} } = claim
      // Not decoded: 64 messages would take 0.1 of the claim's 5 ms.
      const rows = yield* sql<{ readonly due: DueMessages | null }>`
          select lock_due_messages(
            ${limit}::int, ${scanLimit}::int, ${perMinute}::int, ${perDomainMinute}::int, ${maxPerCampaign}::int,
            ${JSON.stringify(heldByCampaign)}::jsonb) as due`
      return rows[0]!.due
    }),

    untilNextTurn: sql`
        select extract(epoch from greatest(now_at, least(now_at + interval '1 day', next_at)) - now_at)::double precision * 1000 as ms
        from (select min(next_at) as next_at, clock_timestamp() as now_at from organization_turns) turn`.pipe(
      decodeWait,
    ),

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
  }
})

// The driver doesn't support null in arrays, so '' and -1 represent it.
const toRetry = ({ lease, settlement }: SettledMessage<RetrySettlement>) => ({
  recipientId: lease.recipientId,
  leaseToken: lease.leaseToken,
  attempts: settlement.attempts,
  delay: settlement.delaySeconds ?? -1,
  unknown: settlement.isUnknown ? 1 : 0,
  failureClass: settlement.failure?.class ?? "",
  failureCode: settlement.failure?.code ?? "",
  attemptsBefore: lease.attempt - 1,
})
