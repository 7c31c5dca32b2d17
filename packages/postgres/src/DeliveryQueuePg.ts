import * as PgClient from "@effect/sql-pg/PgClient"
import type { DeliveryLease, LeasedSecret } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue, type LostLease, MOST_LOST_LEASES } from "@outreach/domain/deliveries/DeliveryQueue"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect, Layer, Queue, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "./batched.ts"
import { dieNaming, isTransient } from "./DatabaseFailure.ts"
import { noteSecretUse } from "./noteSecretUse.ts"
import { SecretCipher } from "./SecretCipher.ts"
import { type Settling, settleDeliveries } from "./settleDeliveries.ts"

// As many as a signature header is read with; older ones would only be reached by rotating that often within the grace window.
const MAX_SECRETS = 16

/** How long a claim trusts what earlier ones saw. */
const REMEMBER_MS = 60_000
/** The class of deliveries that nobody held before and no operator asked for again, as `claim_deliveries` has it. */
const LIVE = 1
/** How long deliveries wait that cannot be signed with the key at hand. */
const UNREADABLE_WAIT_SECONDS = 60
/** How many lost leases one statement takes back. */
const RECOVERED_TOGETHER = 1000

/** How often a settlement is tried again, twice a second: about as long as a lease may last after its call. */
const SETTLE_TRIES = 30

/** How many settlements share one statement. */
const SETTLED_TOGETHER = 128

interface ClaimedRow extends Omit<DeliveryLease, "secrets" | "publishedAt"> {
  /** When the oldest lease was made that may still be held. */
  readonly oldestLease: Timestamp
  readonly dueAt: Timestamp
  readonly class: number
  /** With the first row of an organization alone; null there, too, when the last one has just expired. */
  readonly secrets: ReadonlyArray<{
    readonly ciphertext: string
    readonly expiresAt: number | null
  }> | null
}

/** The only row of a claim that found nothing. */
interface NothingClaimed extends Pick<ClaimedRow, "oldestLease"> {
  readonly id: null
}

const isClaimed = (row: ClaimedRow | NothingClaimed): row is ClaimedRow => row.id !== null

/** Keeps the delivery queue in PostgreSQL. */
export const DeliveryQueuePg = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient
    const cipher = yield* SecretCipher
    // What a partner has answered is written down, should the database be away for a moment: else it would be sent again.
    const settle = yield* batched(SETTLED_TOGETHER, (settlings: ReadonlyArray<Settling>) =>
      Effect.retry(settleDeliveries(sql)(settlings), {
        while: ({ reason }) => isTransient(reason),
        schedule: Schedule.spaced("500 millis"),
        times: SETTLE_TRIES,
      }).pipe(dieNaming("DeliveryQueue.settle")),
    )
    // Where each endpoint's waiting deliveries begin: those of an organization become visible in the order in which they fall due, so
    // what lies before the last that was claimed is claimed, too. Without it, claims would step over the remains of every row that was
    // claimed since the oldest transaction began. Begun anew from time to time, so that a clock that was set back delays nothing for long.
    const since = new Map<string, Timestamp>()
    // When the oldest lease was made, for the same reason.
    let oldestLease: Timestamp | null = null
    let forgetAt = 0

    const noteUse = noteSecretUse(sql)
    // One organization's unreadable secret must not stop the others' deliveries.
    const decryptAll = (secrets: NonNullable<ClaimedRow["secrets"]>, organizationId: OrganizationId) =>
      Effect.try(
        (): ReadonlyArray<LeasedSecret> =>
          secrets.map(({ ciphertext, expiresAt }) => ({
            secret: cipher.decrypt(Buffer.from(ciphertext, "hex"), organizationId),
            expiresAt,
          })),
      ).pipe(
        Effect.catch(() =>
          Effect.as(
            Effect.logError("a signing secret cannot be decrypted; is SECRETS_KEY the key it was encrypted with?", {
              organizationId,
            }),
            undefined,
          ),
        ),
      )

    return {
      claim: Effect.fnUntraced(function* ({ limit, perEndpoint, inAll, leaseSeconds }) {
        const now = yield* Clock.currentTimeMillis
        if (now >= forgetAt) {
          since.clear()
          oldestLease = null
          forgetAt = now + REMEMBER_MS
        }
        const rows = yield* sql<ClaimedRow | NothingClaimed>`
          select oldest_lease as "oldestLease", organization_id as "organizationId", id, endpoint_id as "endpointId",
            event_id as "eventId", attempt, lease_token as "leaseToken", leased_at as "leasedAt", due_at as "dueAt", class, url, body,
            traceparent, secrets
          from claim_deliveries(
            ${limit}::int, ${perEndpoint}::int, ${inAll}::int, ${leaseSeconds}::double precision, ${MAX_SECRETS}::int,
            ${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[], ${oldestLease}::timestamptz
          )`
        oldestLease = rows[0]!.oldestLease
        const claimed = rows.filter(isClaimed)
        const secrets = new Map<OrganizationId, ReadonlyArray<LeasedSecret> | undefined>()
        const leases: Array<DeliveryLease> = []
        for (const row of claimed) {
          const { organizationId, endpointId, dueAt } = row
          const isLive = row.class === LIVE
          if (isLive && !(since.get(endpointId)! >= dueAt)) since.set(endpointId, dueAt)
          if (row.secrets !== null) secrets.set(organizationId, yield* decryptAll(row.secrets, organizationId))
          const active = secrets.get(organizationId)
          if (active === undefined) continue
          leases.push({
            organizationId,
            id: row.id,
            leaseToken: row.leaseToken,
            endpointId,
            url: row.url,
            eventId: row.eventId,
            body: row.body,
            traceparent: row.traceparent,
            attempt: row.attempt,
            secrets: active,
            // What is first attempted fell due when its event was published.
            publishedAt: isLive && row.attempt === 1 ? toUnixMillis(dueAt) : null,
            leasedAt: row.leasedAt,
          })
        }
        const unreadable = [...secrets].flatMap(([id, active]) => (active === undefined ? id : []))
        if (unreadable.length > 0) {
          // Given back, because a lease that is left to end counts towards poison, and the fault is ours.
          yield* sql`
            update deliveries set lease_token = null, lease_until = null,
              due_at = clock_timestamp() + make_interval(secs => ${UNREADABLE_WAIT_SECONDS}::double precision)
            where lease_token = ${claimed[0]!.leaseToken} and organization_id = any (${unreadable}::text[])`
        }
        yield* noteUse([...secrets].flatMap(([id, active]) => (active === undefined ? [] : id)))
        return leases
      }, dieNaming("DeliveryQueue.claim")),

      settle: (lease, attempt, settlement) => settle({ lease, attempt, settlement }),

      listen: (wake) =>
        Effect.gen(function* () {
          const hints = yield* pg.listen("deliveries")
          return yield* Effect.forever(Effect.andThen(Queue.take(hints), wake))
        }).pipe(Effect.scoped, dieNaming("DeliveryQueue.listen")),

      recoverLost: Effect.suspend(
        () => sql<LostLease>`
        with lost as materialized (
          select organization_id, id from deliveries
          where lease_until < statement_timestamp() and leased_at >= coalesce(${oldestLease}::timestamptz, '-infinity')
          order by leased_at limit ${RECOVERED_TOGETHER}::int for update skip locked
        ), recovered as (
          update deliveries delivery set lease_token = null, lease_until = null, lost_leases = lost_leases + 1
          from lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id
            and lost_leases < ${MOST_LOST_LEASES - 1}::int
          returning delivery.*
        ), noted as (
          insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
          select organization_id, id, attempts + 1, leased_at, 'outcome_unknown' from recovered
        ), poison as (
          delete from deliveries delivery using lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id
            and lost_leases >= ${MOST_LOST_LEASES - 1}::int
          returning delivery.*
        ), earlier as (
          delete from delivery_attempts made using poison
          where made.organization_id = poison.organization_id and made.delivery_id = poison.id
          returning made.*
        ), dead as (
          insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at)
          select organization_id, id, endpoint_id, event_id, 'poison', coalesce((
              select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from earlier
              where earlier.organization_id = poison.organization_id and earlier.delivery_id = poison.id
            ), '[]') || attempt_json(attempts + 1, leased_at, null, null, 'outcome_unknown', null),
            created_at
          from poison
        )
        select id as "deliveryId", endpoint_id as "endpointId", false as poison from recovered
        union all
        select id, endpoint_id, true from poison`,
      ).pipe(dieNaming("DeliveryQueue.recoverLost")),
    }
  }),
)
