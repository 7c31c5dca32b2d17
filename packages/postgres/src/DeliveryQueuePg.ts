import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"
import { SecretCipher } from "./SecretCipher.ts"

// As many as a signature header is read with; older ones would only be reached by rotating that often within the grace window.
const MAX_SECRETS = 16

/** Keeps the delivery queue in PostgreSQL. */
export const DeliveryQueuePg = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher

    // One organization's unreadable secret must not stop the others' deliveries: its own wait until their leases end.
    const decryptAll = (ciphertexts: ReadonlyArray<Uint8Array>, lease: Pick<DeliveryLease, "id" | "organizationId">) =>
      Effect.try(() => ciphertexts.map((ciphertext) => cipher.decrypt(ciphertext, lease.organizationId))).pipe(
        Effect.catch(() =>
          Effect.as(
            Effect.logError("a signing secret cannot be decrypted; is SECRETS_KEY the key it was encrypted with?", {
              deliveryId: lease.id,
              organizationId: lease.organizationId,
            }),
            undefined,
          ),
        ),
      )

    return {
      claim: Effect.fnUntraced(function* ({ limit, perEndpoint, leaseSeconds }) {
        // The lock on the endpoint comes before the count, and the count sees what was committed since: two claims at once keep the bound.
        const rows = yield* sql<Omit<DeliveryLease, "secrets"> & { ciphertexts: ReadonlyArray<Uint8Array> }>`
          with endpoint as materialized (
            select id from webhook_endpoints
            where enabled and exists (
              select from deliveries where endpoint_id = webhook_endpoints.id and due_at <= clock_timestamp()
                and (lease_until is null or lease_until < clock_timestamp())
            ) and exists (
              select from signing_secrets secret where secret.organization_id = webhook_endpoints.organization_id
                and (secret.expires_at is null or secret.expires_at > clock_timestamp()))
            for no key update skip locked
          ), due as (
            select delivery.organization_id, delivery.id
            from endpoint
            cross join lateral (
              select organization_id, id, due_at from deliveries
              where endpoint_id = endpoint.id and due_at <= clock_timestamp()
                and (lease_until is null or lease_until < clock_timestamp())
              order by due_at, id
              limit greatest(0, ${perEndpoint}::int - in_flight(endpoint.id))
              for update skip locked
            ) delivery
            order by delivery.due_at, delivery.id
            limit ${limit}
          ), leased as (
            update deliveries delivery
            set lease_token = gen_random_uuid(),
              lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision)
            from due where delivery.organization_id = due.organization_id and delivery.id = due.id
            returning delivery.*
          )
          select leased.organization_id as "organizationId", leased.id, leased.lease_token as "leaseToken",
            leased.endpoint_id as "endpointId", endpoint.url, leased.event_id as "eventId", event.body,
            leased.attempts + 1 as attempt,
            array(select ciphertext from signing_secrets secret
              where secret.organization_id = leased.organization_id
                and (secret.expires_at is null or secret.expires_at > clock_timestamp())
              order by secret.id desc limit ${MAX_SECRETS}) as ciphertexts
          from leased
          join webhook_endpoints endpoint on endpoint.id = leased.endpoint_id
          join events event on event.organization_id = leased.organization_id and event.id = leased.event_id
          order by leased.due_at, leased.id`
        const leases: Array<DeliveryLease> = []
        for (const { ciphertexts, ...lease } of rows) {
          const secrets = yield* decryptAll(ciphertexts, lease)
          if (secrets !== undefined) leases.push({ ...lease, secrets })
        }
        return leases
      }, dieNaming("DeliveryQueue.claim")),

      settle: Effect.fnUntraced(function* (lease, attempt, settlement) {
        const written =
          settlement.state === "retry"
            ? yield* sql`
                with settled as (
                  update deliveries set attempts = ${attempt.number}, lease_token = null, lease_until = null,
                    due_at = clock_timestamp() + make_interval(secs => ${settlement.delaySeconds}::double precision)
                  where organization_id = ${lease.organizationId} and id = ${lease.id} and lease_token = ${lease.leaseToken}
                  returning organization_id, id
                )
                insert into delivery_attempts
                  (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
                select organization_id, id, ${attempt.number}::int, ${attempt.startedAt}::timestamptz,
                  ${attempt.latencyMs}::int, ${attempt.status}::int, ${attempt.outcome}, ${attempt.response}
                from settled returning number`
            : yield* sql`
                with settled as (
                  delete from deliveries
                  where organization_id = ${lease.organizationId} and id = ${lease.id} and lease_token = ${lease.leaseToken}
                  returning organization_id, id, endpoint_id, event_id, created_at
                ), finished as (
                  insert into finished_deliveries
                    (organization_id, id, endpoint_id, event_id, state, attempts, created_at)
                  select organization_id, id, endpoint_id, event_id, ${settlement.state}, ${attempt.number}::int, created_at
                  from settled
                )
                insert into delivery_attempts
                  (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
                select organization_id, id, ${attempt.number}::int, ${attempt.startedAt}::timestamptz,
                  ${attempt.latencyMs}::int, ${attempt.status}::int, ${attempt.outcome}, ${attempt.response}
                from settled returning number`
        return written.length === 1
      }, dieNaming("DeliveryQueue.settle")),
    }
  }),
)
