import { type CampaignId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { MailFailure } from "@outreach/domain/mail/Mailer"
import type { MessageLease } from "@outreach/domain/mail/Message"
import type { MessageAttempt, MessageSettlement } from "@outreach/domain/mail/MessageQueue"
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { decodeRows } from "../rowsOf.ts"
import { suppressAddresses } from "../suppressions/suppressAddresses.ts"
import { bringTurnForward } from "./bringTurnForward.ts"
import { bounceReasonOf, countDomains, type DomainAnswer, domainsCounted } from "./countDomains.ts"
import { giveBackToRamps } from "./giveBackToRamps.ts"
import { pauseDomains } from "./pauseDomains.ts"

/** A lease that is being settled. */
export interface Settling {
  readonly lease: MessageLease
  readonly settlement: MessageSettlement
  readonly attempt: MessageAttempt | undefined
}

type KeptSettlement = Extract<MessageSettlement, { readonly state: "retry" | "unknown" | "unrendered" }>
type FinalSettlement = Exclude<MessageSettlement, KeptSettlement>

const decodeLeases = decodeRows({ recipientId: RecipientId, leaseToken: Schema.String })

const keyOf = ({ recipientId, leaseToken }: Pick<MessageLease, "recipientId" | "leaseToken">): string =>
  `${recipientId} ${leaseToken}`

/** Settles messages, those of each organization in one transaction; returns for each whether its lease was still held. */
export const settleMessages = Effect.fnUntraced(function* (items: ReadonlyArray<Settling>) {
  const sql = yield* SqlClient.SqlClient
  const settled = new Set<string>()
  for (const group of Object.values(Arr.groupBy(items, ({ lease }) => lease.organizationId))) {
    const { organizationId } = group[0].lease
    const leases = yield* sql.withTransaction(settleBatch(organizationId, group))
    for (const { lease } of leases) settled.add(keyOf(lease))
    yield* Effect.ignore(bringForward(organizationId, group))
  }
  return items.map(({ lease }) => settled.has(keyOf(lease)))
})

/** Settles messages of one organization with one stamp; returns those whose leases were still held. */
const settleBatch = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<Settling>) {
  const kept = items.flatMap(({ settlement, ...item }) => (isKept(settlement) ? [{ ...item, settlement }] : []))
  const finals = items.flatMap(({ settlement, ...item }) => (isKept(settlement) ? [] : [{ ...item, settlement }]))
  const ids = items.map(({ lease }) => lease.recipientId)
  const keptNow = kept.length === 0 ? [] : yield* keepMessages(organizationId, ids, kept)
  const finalNow = finals.length === 0 ? [] : yield* removeMessages(organizationId, ids, finals)
  if (finalNow.length > 0) yield* stampRecipients(organizationId, finalNow)
  // At the end, because a transaction that holds the clock may wait for these rows: none that holds them may wait for the clock.
  yield* countDomains(organizationId, keptNow.flatMap(answersTo))
  const settled: ReadonlyArray<Settling> = [...keptNow, ...finalNow]
  yield* giveBackToRamps(
    organizationId,
    settled.flatMap((item) => (reachedNobody(item) ? (item.lease.ramp ?? []) : [])),
  )
  return settled
})

const isKept = (settlement: MessageSettlement): settlement is KeptSettlement =>
  settlement.state === "retry" || settlement.state === "unknown" || settlement.state === "unrendered"

/**
 * Recipients are locked before their messages are, and both before the clock, here as everywhere, so that no two writers wait for
 * each other. In the statement that settles the messages, because messages wait for each round trip of their recording.
 */
const lockRecipients = (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  recipientIds: ReadonlyArray<RecipientId>,
) => ({
  withRecipients: sql`
    with recipient as materialized (
      select from recipients where organization_id = ${organizationId} and id = any (${recipientIds}::text[])
      order by id for update
    )`,
  areLocked: sql`(select count(*) from recipient) > 0`,
})

/** Records attempts and counts in the statement that settles their messages. Only a transaction that holds the recipient writes an attempt. */
const recordAttempts = (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  items: ReadonlyArray<Settling>,
  changedMessages: string,
) => {
  const attempts = items.flatMap(({ lease, attempt }) =>
    attempt === undefined ? [] : [{ ...lease, ...attempt, number: lease.attempt }],
  )
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

/** What a settlement writes of a message that stays in the queue; an unknown outcome does not count against the mailbox. */
const keptState = (
  lease: MessageLease,
  settlement: KeptSettlement,
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

/** Puts messages back into the queue, or quarantines them; returns those whose leases were still held. */
const keepMessages = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  recipientIds: ReadonlyArray<RecipientId>,
  items: ReadonlyArray<Settling & { readonly settlement: KeptSettlement }>,
) {
  const sql = yield* SqlClient.SqlClient
  const { withRecipients, areLocked } = lockRecipients(sql, organizationId, recipientIds)
  const retries = items.map(({ lease, settlement }) => ({ ...lease, ...keptState(lease, settlement) }))
  const changed = `
    select 1 as sign, organization_id, campaign_id, attempts, unknown_outcomes, quarantined_at from settled
    union all
    select -1, organization_id, campaign_id, attempts_before, unknown_outcomes - unknown, null from settled`
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
    ), ${recordAttempts(sql, organizationId, items, changed)}`.pipe(decodeLeases)
  const held = new Set(rows.map(keyOf))
  yield* pauseDomains(
    organizationId,
    retries.flatMap(({ refusedWith, delaySeconds, ...retry }) =>
      refusedWith !== undefined && delaySeconds !== null && held.has(keyOf(retry))
        ? [{ ...retry, delaySeconds, status: refusedWith }]
        : [],
    ),
  )
  return items.filter(({ lease }) => held.has(keyOf(lease)))
})

/** Takes messages out of the queue; returns those whose leases were still held. */
const removeMessages = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  recipientIds: ReadonlyArray<RecipientId>,
  items: ReadonlyArray<Settling & { readonly settlement: FinalSettlement }>,
) {
  const sql = yield* SqlClient.SqlClient
  const { withRecipients, areLocked } = lockRecipients(sql, organizationId, recipientIds)
  const rows = yield* sql`
    ${withRecipients}, settled as (
      delete from messages message
      using unnest(
        ${items.map(({ lease }) => lease.recipientId)}::text[], ${items.map(({ lease }) => lease.leaseToken)}::uuid[]
      ) as final (recipient_id, token)
      where message.organization_id = ${organizationId} and message.recipient_id = final.recipient_id
        and message.lease_token = final.token and ${areLocked}
      returning message.recipient_id, final.token, ${MESSAGE_STATE}
    ), ${recordAttempts(sql, organizationId, items, "select -1 as sign, settled.* from settled")}`.pipe(decodeLeases)
  const held = new Set(rows.map(keyOf))
  return items.filter(({ lease }) => held.has(keyOf(lease)))
})

/** Marks the recipients of messages that left the queue, and publishes their events, with one stamp. */
const stampRecipients = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  items: ReadonlyArray<Settling & { readonly settlement: FinalSettlement }>,
) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* commitTimestamp(organizationId)
  const settlements = items.map(({ settlement }) => settlement)
  // Others of the organization wait for the clock from now on, so each round trip counts.
  yield* sql`
    with counted as (${domainsCounted(sql, organizationId, items.flatMap(answersTo))}), changed as (
      update recipients recipient set updated_at = ${at}::timestamptz,
        last_event_at = case when final.reason = '' then ${at}::timestamptz else last_event_at end,
        sent_at = case when final.state = 'sent' then ${at}::timestamptz else sent_at end,
        bounced_at = case when final.state = 'bounced' then ${at}::timestamptz else bounced_at end,
        withdrawn_at = case when final.state = 'withdrawn' then ${at}::timestamptz else withdrawn_at end,
        withdrawal_reason = coalesce(nullif(final.reason, ''), withdrawal_reason)
      from unnest(
        ${items.map(({ lease }) => lease.recipientId)}::text[], ${settlements.map(({ state }) => state)}::text[],
        ${settlements.map((final) => (final.state === "withdrawn" ? final.reason : ""))}::text[]
      ) as final (recipient_id, state, reason)
      where recipient.organization_id = ${organizationId} and recipient.id = final.recipient_id
      returning ${RECIPIENT_STATE}
    )
    ${countRecipients("changed")}`
  const suppressed = items.flatMap(({ lease, settlement }) =>
    settlement.state === "bounced" && settlement.isHardBounce ? [lease.email] : [],
  )
  yield* suppressAddresses(organizationId, suppressed, "bounced")
  yield* publishEvents(
    settlements.flatMap((final) => (final.state === "withdrawn" ? [] : [final.event])),
    at,
  )
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
