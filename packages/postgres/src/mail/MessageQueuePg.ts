import type { Deployment } from "@outreach/domain/Deployment"
import { type CampaignId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { DueMessages } from "@outreach/domain/mail/decideClaim"
import type { MailFailure } from "@outreach/domain/mail/Mailer"
import { type MessageLease, SendingTemplate } from "@outreach/domain/mail/Message"
import {
  type MessageAttempt,
  MessageQueue,
  type MessageSettlement,
  SEND_RATE_RETENTION_SECONDS,
} from "@outreach/domain/mail/MessageQueue"
import { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import type { ClockSkew } from "@outreach/postgres-connection/ClockSkew"
import { Array as Arr, Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { coalesce } from "../coalesce.ts"
import { isTransient } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import type { Hints } from "../events/Hints.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { decodeRows } from "../rowsOf.ts"
import { suppressAddresses } from "../suppressions/suppressAddresses.ts"
import { bringTurnForward } from "./bringTurnForward.ts"
import { bounceReasonOf, countDomains, type DomainAnswer, domainsCounted } from "./countDomains.ts"
import { giveBackToRamps } from "./giveBackToRamps.ts"
import { pauseDomains } from "./pauseDomains.ts"

const decodeTemplates = decodeRows(SendingTemplate.fields)
const decodeFields = decodeRows({ recipientId: RecipientId, fields: RecipientFields })
const decodeTokens = decodeRows({ leaseToken: Schema.String })
const decodeLeases = decodeRows({ recipientId: RecipientId, leaseToken: Schema.String })
const decodeCounts = decodeRows({ count: Schema.Int })

/** Keeps the messages to send in PostgreSQL. */
export const MessageQueuePg = adapter(
  MessageQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | ClockSkew | Deployment | Hints>()

    // An organization's transactions wait for its clock one after another, so settlements that come during one share the next one's stamp.
    const settle = yield* coalesce(MAX_BATCH_SIZE, (items: ReadonlyArray<Settling>) =>
      Effect.gen(function* () {
        const settled = new Set<string>()
        for (const group of Object.values(Arr.groupBy(items, ({ lease }) => lease.organizationId))) {
          const { organizationId } = group[0].lease
          const leases = yield* sql.withTransaction(settleBatch(organizationId, group))
          for (const lease of leases) settled.add(lease)
          yield* Effect.ignore(bringForward(organizationId, group))
        }
        return items.map(({ lease }) => settled.has(keyOf(lease)))
      }).pipe(Effect.provideContext(context)),
    )

    return {
      lockDue: Effect.fnUntraced(function* (claim, scanLimit) {
        const {
          limit,
          perMinute,
          perDomainMinute,
          perOperatorMinute = null,
          maxPerCampaign = limit,
          heldByCampaign = {},
        } = claim
        // Not decoded: 64 messages would take 0.1 ms of the 5 of their claim (docs/decisions/0087-rows-are-described-once.md).
        const rows = yield* sql<{ readonly due: DueMessages | null }>`
          select lock_due_messages(
            ${limit}::int, ${scanLimit}::int, ${perMinute}::int, ${perDomainMinute}::int, ${perOperatorMinute}::int, ${maxPerCampaign}::int,
            ${JSON.stringify(heldByCampaign)}::jsonb) as due`
        return rows[0]!.due
      }),

      lease: Effect.fnUntraced(function* (decision, leaseSeconds) {
        const leases = decision.leases.map(({ organizationId, recipientId }) => ({ organizationId, recipientId }))
        const rows = yield* sql`
          select recipient_id as "recipientId", lease_token as "leaseToken"
          from lease_messages(${JSON.stringify({ ...decision, leases })}::jsonb, ${leaseSeconds}::double precision)`.pipe(
          decodeLeases,
        )
        return new Map(rows.map(({ recipientId, leaseToken }) => [recipientId, leaseToken]))
      }),

      renew: Effect.fnUntraced(function* (leases, leaseSeconds) {
        const rows = yield* sql`
          update messages message set lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision)
          from unnest(
            ${leases.map((lease) => lease.organizationId)}::text[], ${leases.map((lease) => lease.recipientId)}::text[],
            ${leases.map((lease) => lease.leaseToken)}::uuid[]
          ) as lease (organization_id, recipient_id, token)
          where message.organization_id = lease.organization_id and message.recipient_id = lease.recipient_id
            and message.lease_token = lease.token
          returning lease.token as "leaseToken"`.pipe(decodeTokens)
        return rows.map(({ leaseToken }) => leaseToken)
      }),

      forgetRates: Effect.gen(function* () {
        const before = sql`plausible_now() - make_interval(secs => ${SEND_RATE_RETENTION_SECONDS}::double precision)`
        // A claim locks the rates that it counts by in an order of its own.
        yield* sql`
          delete from send_rates where scope in (
            select scope from send_rates where greatest(next_at, deferred_until) < ${before} for update skip locked)`
        yield* sql`delete from domain_pauses where until < ${before}`
      }),

      template: Effect.fnUntraced(function* (campaignId, testSubject) {
        const rows = yield* sql`
          select case when coalesce(${testSubject}::text, winner) = 'b' then subject_b else subject end as subject, html, text,
            short_link as "shortLink", fields, campaign.name as "campaignName", program.name as "programName",
            sender_name as "senderName", postal_address as "postalAddress", exists (
              select from follow_ups
              where organization_id = campaign.organization_id and campaign_id = campaign.id and unless = 'clicked'
            ) as "asksForClicks"
          from campaigns campaign
          join programs program on program.organization_id = campaign.organization_id and program.id = campaign.program_id
          left join subject_tests test on test.organization_id = campaign.organization_id and test.campaign_id = campaign.id
          where campaign.id = ${campaignId}`.pipe(decodeTemplates)
        return rows[0]!
      }),

      // A statement of its own, for campaigns whose templates name fields: docs/decisions/0049-a-recipients-fields-stand-apart.md.
      fields: Effect.fnUntraced(function* (leases) {
        const rows = yield* sql`
          select recipient_id as "recipientId", fields
          from unnest(
            ${leases.map((lease) => lease.organizationId)}::text[], ${leases.map((lease) => lease.recipientId)}::text[]
          ) as lease (organization_id, recipient_id)
          join recipient_fields using (organization_id, recipient_id)`.pipe(decodeFields)
        return new Map(rows.map(({ recipientId, fields }) => [recipientId, fields]))
      }),

      settle: (lease, settlement, attempt) =>
        settle({ lease, settlement, attempt }).pipe(
          // What the mail server has answered is written down, should the database be away for a moment: else the message would be sent again.
          Effect.retry({
            while: ({ reason }) => isTransient(reason),
            schedule: Schedule.spaced("500 millis"),
            times: MAX_SETTLE_TRIES,
          }),
        ),

      // Several workers share the work: each leaves out what another one is at.
      forgetAttempts: Effect.fnUntraced(function* (days) {
        const rows = yield* sql`
          with old as materialized (
            select organization_id, recipient_id, number, outcome from message_attempts
            where last_at < plausible_now() - make_interval(days => ${days}) and not is_doubtful(last_at)
            order by last_at limit ${FORGET_BATCH_SIZE} for update skip locked
          ), gone as (
            delete from message_attempts attempt using old
            where attempt.organization_id = old.organization_id and attempt.recipient_id = old.recipient_id
              and attempt.number = old.number and attempt.outcome = old.outcome
            returning 1
          )
          select count(*)::int as count from gone`.pipe(decodeCounts)
        return rows[0]!.count
      }),
    }
  }),
)

/** How often an outcome is written again, twice a second: for about as long as a lease. */
const MAX_SETTLE_TRIES = 200

/** How many attempts one statement forgets. */
const FORGET_BATCH_SIZE = 1000

interface Settling {
  readonly lease: MessageLease
  readonly settlement: MessageSettlement
  readonly attempt: MessageAttempt | undefined
}

type PutBackSettlement = Extract<MessageSettlement, { readonly state: "retry" | "unknown" | "unrendered" }>

/** What a settlement leaves of a message that stays in the queue; an unknown outcome does not count against the mailbox. */
const putBack = (
  lease: MessageLease,
  settlement: PutBackSettlement,
): {
  readonly attempts: number
  readonly delaySeconds: number | null
  readonly unknown: 0 | 1
  readonly failure?: MailFailure
  readonly refusedWith?: string
} => {
  if (settlement.state === "retry") return { ...settlement, unknown: 0 }
  const attempts = lease.attempt - 1
  return settlement.state === "unrendered"
    ? { failure: settlement.failure, unknown: 0, attempts, delaySeconds: null }
    : { ...settlement, unknown: 1, attempts }
}

type HeldLease = Pick<MessageLease, "recipientId" | "leaseToken">

const keyOf = ({ recipientId, leaseToken }: HeldLease): string => `${recipientId} ${leaseToken}`

/** The most settlements that share a transaction. */
const MAX_BATCH_SIZE = 100

/** Settles messages of one organization in one transaction, with one stamp; returns the keys of the leases that were still held. */
const settleBatch = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<Settling>) {
  const sql = yield* SqlClient.SqlClient
  const detailsOf = (item: Settling) => ({ made: item.attempt, number: item.lease.attempt, answers: answersTo(item) })
  const retries = items.flatMap((item) =>
    "event" in item.settlement || item.settlement.state === "withdrawn"
      ? []
      : [{ ...item.lease, ...putBack(item.lease, item.settlement), ...detailsOf(item) }],
  )
  const finals = items.flatMap((item) =>
    "event" in item.settlement || item.settlement.state === "withdrawn"
      ? [{ ...item.lease, ...item.settlement, ...detailsOf(item) }]
      : [],
  )
  const settled = new Set<string>()
  // Recipients are locked before their messages are, and both before the clock, here as everywhere, so that no two writers wait for
  // each other. In the statement itself, because messages wait for each round trip of their recording.
  const withRecipients = sql`
    with recipient as materialized (
      select from recipients
      where organization_id = ${organizationId} and id = any (${items.map(({ lease }) => lease.recipientId)}::text[])
      order by id for update
    )`
  const areLocked = sql`(select count(*) from recipient) > 0`
  // In the statement that settles the messages, for the same reason. Who writes an attempt holds its recipient.
  const recorded = (
    settling: ReadonlyArray<HeldLease & { readonly number: number; readonly made: MessageAttempt | undefined }>,
    changedMessages: string,
  ) => {
    const attempts = settling.flatMap(({ made, ...lease }) => (made === undefined ? [] : [{ ...lease, ...made }]))
    return sql`
      recorded as (
        insert into message_attempts as kept (organization_id, recipient_id, number, outcome, reply)
        select ${organizationId}, recipient_id, number, outcome, nullif(reply, '')
        from settled join unnest(
          ${attempts.map(({ recipientId }) => recipientId)}::text[], ${attempts.map(({ leaseToken }) => leaseToken)}::uuid[],
          ${attempts.map(({ number }) => number)}::int[], ${attempts.map(({ outcome }) => outcome)}::text[],
          ${attempts.map(({ reply }) => reply ?? "")}::text[]
        ) as attempt (recipient_id, token, number, outcome, reply) using (recipient_id, token)
        on conflict (organization_id, recipient_id, number, outcome)
        do update set times = kept.times + 1, last_at = excluded.last_at, reply = excluded.reply
      ), tallied as (${countMessages(changedMessages)})
      select recipient_id as "recipientId", token as "leaseToken" from settled`
  }
  if (retries.length > 0) {
    const rows = yield* sql`
      ${withRecipients}, settled as (
      update messages message set attempts = retry.attempts, lease_token = null, lease_until = null,
        due_at = coalesce(clock_timestamp() + make_interval(secs => nullif(retry.delay, -1)), 'infinity'),
        unknown_outcomes = unknown_outcomes + retry.unknown,
        quarantined_at = case when retry.delay = -1 then clock_timestamp() end,
        failure_class = coalesce(nullif(retry.failure_class, ''), case when unknown_outcomes > 0 then message.failure_class end),
        failure_code = coalesce(nullif(retry.failure_code, ''), case when unknown_outcomes > 0 then message.failure_code end)
      from unnest(
        ${retries.map((retry) => retry.recipientId)}::text[], ${retries.map((retry) => retry.leaseToken)}::uuid[],
        ${retries.map((retry) => retry.attempts)}::int[], ${retries.map((retry) => retry.delaySeconds ?? -1)}::int[],
        ${retries.map((retry) => retry.unknown)}::int[], ${retries.map((retry) => retry.failure?.class ?? "")}::text[],
        ${retries.map((retry) => retry.failure?.code ?? "")}::text[], ${retries.map(({ attempt }) => attempt - 1)}::int[]
      ) as retry (recipient_id, token, attempts, delay, unknown, failure_class, failure_code, attempts_before)
      where message.organization_id = ${organizationId} and message.recipient_id = retry.recipient_id
        and message.lease_token = retry.token and ${areLocked}
      returning message.recipient_id, retry.token, ${MESSAGE_STATE}, attempts_before, unknown
      ), ${recorded(
        retries,
        `
          select 1 as sign, organization_id, campaign_id, attempts, unknown_outcomes, quarantined_at from settled
          union all
          select -1, organization_id, campaign_id, attempts_before, unknown_outcomes - unknown, null from settled`,
      )}`.pipe(decodeLeases)
    for (const lease of rows) settled.add(keyOf(lease))
    yield* pauseDomains(
      organizationId,
      retries.flatMap(({ refusedWith, delaySeconds, ...retry }) =>
        refusedWith !== undefined && delaySeconds !== null && settled.has(keyOf(retry))
          ? [{ ...retry, delaySeconds, status: refusedWith }]
          : [],
      ),
    )
  }
  if (finals.length > 0) {
    const rows = yield* sql`
      ${withRecipients}, settled as (
      delete from messages message
      using unnest(
        ${finals.map((final) => final.recipientId)}::text[], ${finals.map((final) => final.leaseToken)}::uuid[]
      ) as final (recipient_id, token)
      where message.organization_id = ${organizationId} and message.recipient_id = final.recipient_id
        and message.lease_token = final.token and ${areLocked}
      returning message.recipient_id, final.token, ${MESSAGE_STATE}
      ), ${recorded(finals, "select -1 as sign, settled.* from settled")}`.pipe(decodeLeases)
    for (const lease of rows) settled.add(keyOf(lease))
    const ours = finals.filter((final) => settled.has(keyOf(final)))
    if (ours.length > 0) {
      const ids = ours.map(({ recipientId }) => recipientId)
      const at = yield* commitTimestamp(organizationId)
      // Others of the organization wait for the clock from now on, so each round trip counts.
      yield* sql`
        with counted as (${domainsCounted(
          sql,
          organizationId,
          ours.flatMap(({ answers }) => answers),
        )}), changed as (
        update recipients recipient set updated_at = ${at}::timestamptz,
          last_event_at = case when final.reason = '' then ${at}::timestamptz else last_event_at end,
          sent_at = case when final.state = 'sent' then ${at}::timestamptz else sent_at end,
          bounced_at = case when final.state = 'bounced' then ${at}::timestamptz else bounced_at end,
          withdrawn_at = case when final.state = 'withdrawn' then ${at}::timestamptz else withdrawn_at end,
          withdrawal_reason = coalesce(nullif(final.reason, ''), withdrawal_reason)
        from unnest(
          ${ids}::text[], ${ours.map(({ state }) => state)}::text[],
          ${ours.map((final) => (final.state === "withdrawn" ? final.reason : ""))}::text[]
        ) as final (recipient_id, state, reason)
        where recipient.organization_id = ${organizationId} and recipient.id = final.recipient_id
        returning ${RECIPIENT_STATE}
        )
        ${countRecipients("changed")}`
      const suppressed = ours.filter((final) => final.state === "bounced" && final.isHardBounce)
      yield* suppressAddresses(
        organizationId,
        suppressed.map(({ email }) => email),
        "bounced",
      )
      yield* publishEvents(
        ours.flatMap((final) => (final.state === "withdrawn" ? [] : [final.event])),
        at,
      )
    }
  }
  // At the end, because a transaction that holds the clock may wait for these rows: none that holds them may wait for the clock.
  yield* countDomains(
    organizationId,
    retries.flatMap((retry) => (settled.has(keyOf(retry)) ? retry.answers : [])),
  )
  yield* giveBackToRamps(
    organizationId,
    items.flatMap((item) => (reachedNobody(item) && settled.has(keyOf(item.lease)) ? (item.lease.ramp ?? []) : [])),
  )
  return settled
})

/** Returns what the server of a recipient's domain answered; nothing where none was asked, or its answer is not known. */
const answersTo = ({ lease: { campaignId, email }, settlement, attempt }: Settling): ReadonlyArray<DomainAnswer> => {
  const reply = attempt?.reply ?? null
  if (settlement.state === "sent") return [{ campaignId, email, answer: "sent", reply: null }]
  if (settlement.state === "bounced") return [{ campaignId, email, answer: bounceReasonOf(settlement.event), reply }]
  const answer = attempt?.outcome
  return answer === "deferred" || answer === "refused" ? [{ campaignId, email, answer, reply }] : []
}

/** Reports whether no recipient's server was asked about the message, as far as we know. A deferral was an answer. */
const reachedNobody = ({ lease, settlement }: Settling): boolean =>
  settlement.state === "unrendered" ||
  settlement.state === "withdrawn" ||
  (settlement.state === "retry" && settlement.attempts < lease.attempt && settlement.refusedWith === undefined)

/** Brings the turns of campaigns forward to the retries that were put back. Where it fails, the next turn comes within a minute. */
const bringForward = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<Settling>) {
  const delays = new Map<CampaignId, number>()
  for (const { lease, settlement } of items) {
    if (settlement.state !== "retry" && settlement.state !== "unknown") continue
    if (settlement.delaySeconds === null || settlement.delaySeconds >= MAX_TURN_WAIT_SECONDS) continue
    delays.set(lease.campaignId, Math.min(settlement.delaySeconds, delays.get(lease.campaignId) ?? Infinity))
  }
  for (const [campaignId, delay] of delays) yield* bringTurnForward(organizationId, campaignId, delay)
})

/** The longest that `advance_turns` lets a campaign wait for its next turn. */
const MAX_TURN_WAIT_SECONDS = 60
