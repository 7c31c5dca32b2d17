import type { Deployment } from "@outreach/domain/Deployment"
import { type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { FinalMessage, KeptMessage, MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { Failing } from "../adapter.ts"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import type { Hints } from "../events/Hints.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { rowsOf } from "../rowsOf.ts"
import { suppressAddresses } from "../suppressions/suppressAddresses.ts"
import { toTable } from "../toTable.ts"
import { bringTurnForward } from "./bringTurnForward.ts"
import { countDomains, domainsCounted } from "./countDomains.ts"
import { pauseDomains } from "./pauseDomains.ts"

export const leaseRows = rowsOf(Schema.Struct({ recipientId: RecipientId, leaseToken: Schema.String }))

// The driver doesn't support null in arrays, so '' and -1 represent it.
const LEASE = { recipientId: "text", leaseToken: "uuid" } as const

const RETRY = {
  ...LEASE,
  attempts: "int",
  delay: "int",
  unknown: "int",
  failureClass: "text",
  failureCode: "text",
  attemptsBefore: "int",
} as const
const toRetry = ({ lease, attempts, delaySeconds, isUnknown, failure }: KeptMessage) => ({
  recipientId: lease.recipientId,
  leaseToken: lease.leaseToken,
  attempts,
  delay: delaySeconds ?? -1,
  unknown: isUnknown ? 1 : 0,
  failureClass: failure?.class ?? "",
  failureCode: failure?.code ?? "",
  attemptsBefore: lease.attempt - 1,
})

type Settling = Pick<
  Failing<typeof MessageQueue.Service>,
  "putBack" | "takeOut" | "stampRecipients" | "countAnswers" | "pauseDomains" | "giveBackToRamps" | "bringTurnsForward"
>

/** The queue's part of `Settlements`; runs in its transaction. */
export const settling = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const context = yield* Effect.context<SqlClient.SqlClient | Deployment | Hints>()

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
    messages: ReadonlyArray<KeptMessage | FinalMessage>,
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
      return yield* sql`
        ${withRecipients(organizationId, recipientIds)}, settled as (
          update messages message set attempts = retry.attempts, lease_token = null, lease_until = null,
            due_at = coalesce(clock_timestamp() + make_interval(secs => nullif(retry.delay, -1)), 'infinity'),
            unknown_outcomes = unknown_outcomes + retry.unknown,
            quarantined_at = case when retry.delay = -1 then clock_timestamp() end,
            failure_class = coalesce(nullif(retry.failure_class, ''), case when unknown_outcomes > 0 then message.failure_class end),
            failure_code = coalesce(nullif(retry.failure_code, ''), case when unknown_outcomes > 0 then message.failure_code end)
          from ${toTable("retry", messages.map(toRetry), RETRY)}
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

    stampRecipients: Effect.fnUntraced(function* (organizationId, messages, answers, at) {
      const finals = messages.map(({ lease: { recipientId }, settlement: { state } }) => ({ recipientId, state }))
      const suppressed = messages.flatMap(({ lease, settlement }) =>
        settlement.state === "bounced" && settlement.isHardBounce ? [lease.email] : [],
      )
      yield* suppressAddresses(organizationId, suppressed, "bounced")
      yield* publishEvents(
        messages.map(({ settlement }) => settlement.event),
        at,
        sql`
          answered as (${domainsCounted(sql, organizationId, answers)}), changed as (
            update recipients recipient set updated_at = ${at}::timestamptz, last_event_at = ${at}::timestamptz,
              sent_at = case when final.state = 'sent' then ${at}::timestamptz else sent_at end,
              bounced_at = case when final.state = 'bounced' then ${at}::timestamptz else bounced_at end
            from ${toTable("final", finals, { recipientId: "text", state: "text" })}
            where recipient.organization_id = ${organizationId} and recipient.id = final.recipient_id
            returning ${RECIPIENT_STATE}
          ), tallied as (${countRecipients("changed")})`,
      )
    }, Effect.provideContext(context)),

    countAnswers: (organizationId, answers) => Effect.provideContext(countDomains(organizationId, answers), context),

    pauseDomains: (organizationId, rejections) =>
      Effect.provideContext(pauseDomains(organizationId, rejections), context),

    giveBackToRamps: Effect.fnUntraced(function* (organizationId, days) {
      const groups = Object.entries(Arr.groupBy(days, ({ senderId, day }) => `${senderId} ${day}`))
      // In a fixed order to avoid deadlocks between workers.
      for (const [, group] of groups.sort(([one], [other]) => (one < other ? -1 : 1))) {
        yield* sql`
          update sender_ramps set sent = greatest(0, sent - ${group.length}::int)
          where organization_id = ${organizationId} and sender_id = ${group[0].senderId} and counted_on = ${group[0].day}::date`
      }
    }),

    bringTurnsForward: (organizationId, delays) =>
      Effect.forEach(delays, ([campaignId, delay]) => bringTurnForward(organizationId, campaignId, delay), {
        discard: true,
      }).pipe(Effect.ignore, Effect.provideContext(context)),
  } satisfies Settling
})
