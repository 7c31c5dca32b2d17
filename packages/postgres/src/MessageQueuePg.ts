import type { Deployment } from "@outreach/domain/Deployment"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { MessageLease, MessageTemplate } from "@outreach/domain/outreach/Message"
import { MessageQueue, type MessageSettlement } from "@outreach/domain/outreach/MessageQueue"
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "./batched.ts"
import { dieNaming } from "./DatabaseFailure.ts"
import { stamp } from "./OrganizationClock.ts"
import { publishEvents } from "./publishEvents.ts"

/** Keeps the messages to send in PostgreSQL. */
export const MessageQueuePg = Layer.effect(
  MessageQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | Deployment>()

    // An organization's transactions wait for its clock one after another, so what comes meanwhile shares the next one's stamp.
    const settle = yield* batched(MOST_TOGETHER, (items: ReadonlyArray<Settling>) =>
      Effect.gen(function* () {
        const settled = new Set<string>()
        for (const group of Object.values(Arr.groupBy(items, ({ lease }) => lease.organizationId))) {
          const leases = yield* sql.withTransaction(settleTogether(group[0].lease.organizationId, group))
          for (const lease of leases) settled.add(lease)
        }
        return items.map(({ lease }) => settled.has(keyOf(lease)))
      }).pipe(Effect.provideContext(context), dieNaming("MessageQueue.settle")),
    )

    return {
      claim: ({ limit, leaseSeconds }) =>
        sql<MessageLease>`
          with due as (
            select message.organization_id, message.recipient_id
            from campaigns campaign
            cross join lateral (
              select organization_id, recipient_id, due_at from messages
              where organization_id = campaign.organization_id and campaign_id = campaign.id
                and due_at <= statement_timestamp() and (lease_until is null or lease_until < statement_timestamp())
              order by due_at, recipient_id limit ${limit} for update skip locked
            ) message
            where campaign.status = 'sending'
              and campaign.window_start <= statement_timestamp() and campaign.window_end > statement_timestamp()
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

      settle: (lease, settlement) => settle({ lease, settlement }),
    }
  }),
)

interface Settling {
  readonly lease: MessageLease
  readonly settlement: MessageSettlement
}

type HeldLease = Pick<MessageLease, "recipientId" | "leaseToken">

const keyOf = ({ recipientId, leaseToken }: HeldLease): string => `${recipientId} ${leaseToken}`

/** The most settlements that share a transaction. */
const MOST_TOGETHER = 100

/** Settles messages of one organization in one transaction, with one stamp; answers the keys of the leases that were still held. */
const settleTogether = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<Settling>) {
  const sql = yield* SqlClient.SqlClient
  const retries = items.flatMap(({ lease, settlement }) =>
    settlement.state === "retry" ? [{ ...lease, ...settlement }] : [],
  )
  const finals = items.flatMap(({ lease, settlement }) =>
    settlement.state === "retry" ? [] : [{ ...lease, ...settlement }],
  )
  const settled = new Set<string>()
  if (retries.length > 0) {
    const rows = yield* sql<HeldLease>`
      update messages message set attempts = retry.attempts, lease_token = null, lease_until = null,
        due_at = clock_timestamp() + make_interval(secs => retry.delay)
      from unnest(
        ${retries.map((retry) => retry.recipientId)}::text[], ${retries.map((retry) => retry.leaseToken)}::uuid[],
        ${retries.map((retry) => retry.attempts)}::int[], ${retries.map((retry) => retry.delaySeconds)}::int[]
      ) as retry (recipient_id, token, attempts, delay)
      where message.organization_id = ${organizationId} and message.recipient_id = retry.recipient_id
        and message.lease_token = retry.token
      returning message.recipient_id as "recipientId", retry.token as "leaseToken"`
    for (const lease of rows) settled.add(keyOf(lease))
  }
  if (finals.length > 0) {
    const rows = yield* sql<HeldLease>`
      delete from messages message
      using unnest(
        ${finals.map((final) => final.recipientId)}::text[], ${finals.map((final) => final.leaseToken)}::uuid[]
      ) as final (recipient_id, token)
      where message.organization_id = ${organizationId} and message.recipient_id = final.recipient_id
        and message.lease_token = final.token
      returning message.recipient_id as "recipientId", final.token as "leaseToken"`
    for (const lease of rows) settled.add(keyOf(lease))
    const ours = finals.filter((final) => settled.has(keyOf(final)))
    if (ours.length > 0) {
      const ids = ours.map(({ recipientId }) => recipientId)
      // Rows are locked before the clock is, here as everywhere, so that no two writers wait for each other.
      yield* sql`
        select from recipients where organization_id = ${organizationId} and id = any (${ids}::text[])
        order by id for update`
      const at = yield* stamp(organizationId)
      yield* sql`
        update recipients recipient set updated_at = ${at}::timestamptz, last_event_at = ${at}::timestamptz,
          sent_at = case when final.state = 'sent' then ${at}::timestamptz else sent_at end,
          bounced_at = case when final.state = 'bounced' then ${at}::timestamptz else bounced_at end
        from unnest(${ids}::text[], ${ours.map(({ state }) => state)}::text[]) as final (recipient_id, state)
        where recipient.organization_id = ${organizationId} and recipient.id = final.recipient_id`
      yield* publishEvents(
        ours.map(({ event }) => event),
        at,
      )
    }
  }
  return settled
})
