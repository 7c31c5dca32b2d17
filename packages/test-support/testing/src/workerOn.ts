import type { Attempt, Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases, type Settlement } from "@outreach/domain/deliveries/DeliveryLeases"
import type { EndpointId, EventId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { sql } from "./sql.ts"

const attemptOf = ({ attempt }: Delivery, status = 200): Attempt => ({
  number: attempt,
  startedAt: Timestamp.make("2026-11-21T00:00:00.000001Z"),
  latencyMs: 12,
  status,
  outcome: status === 200 ? "success" : "client_error",
  response: status === 410 ? "gone" : "ok",
})

/** The default worker of a test file. */
const TOKEN = "00000000-0000-4000-8000-000000000001"

/** A worker that takes every free endpoint and runs only a test's steps. */
export const workerOn = Effect.fnUntraced(function* (token: string = TOKEN) {
  const leases = yield* DeliveryLeases

  /** Returns the open events of an endpoint. */
  const openOf = (endpointId: EndpointId) =>
    Effect.map(
      sql<{ open: ReadonlyArray<EventId> }>`select open from reader_positions where endpoint_id = ${endpointId}`,
      ([row]) => row?.open ?? [],
    )

  const wanted = (limit: number) =>
    Effect.gen(function* () {
      yield* leases.heartbeat(token, 45)
      yield* leases.acquire(token, 1000)
      const owned = yield* leases.listOwned(token)
      yield* leases.secrets(owned)
      return yield* Effect.forEach(
        owned.filter(({ enabled }) => enabled),
        ({ endpointId }) => Effect.map(openOf(endpointId), (events) => ({ endpointId, limit, events })),
      )
    })

  return {
    token,
    /** Takes due deliveries of all endpoints, at most `most` of each: from the logs, then from rows. */
    take: Effect.fnUntraced(function* (most = 100) {
      const endpoints = yield* wanted(most)
      const read = yield* leases.read(token, endpoints)
      return [...read, ...(yield* leases.takeDue(token, endpoints))]
    }),
    /** Writes the outcomes of deliveries to one endpoint in one statement. Returns whether all of it was written. */
    settle: Effect.fnUntraced(function* (
      deliveries: ReadonlyArray<Delivery>,
      settlement: Settlement = { settlement: "delivered" },
      status = 200,
    ) {
      const { endpointId } = deliveries[0]!
      const outcomes = deliveries.map((delivery) => ({
        ...{ delivery, version: delivery.version, attempt: attemptOf(delivery, status) },
        ...settlement,
      }))
      const { refused } = yield* leases.write(token, [{ endpointId, outcomes }])
      return refused.size === 0
    }),
  }
})
