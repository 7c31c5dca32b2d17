import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import { MAX_LOSSES } from "@outreach/domain/deliveries/DeliveryLeases"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import type { Partner } from "./startPartner.ts"

/** An endpoint, its receiver, and the events with acknowledged publication. */
export interface Route {
  readonly partner: Partner
  readonly organizationId: string
  readonly endpointId: string
  readonly published: ReadonlyArray<string>
}

interface Finished {
  readonly id: string
  readonly eventId: string
  readonly state: "delivered" | "rejected" | "exhausted" | "poison"
  readonly attempts: ReadonlyArray<Attempt>
}

const UNKNOWN = "outcome_unknown"

/** Compares the published events, the database's history and the receivers' view. Returns figures and all differences. */
export const audit = Effect.fnUntraced(function* (
  routes: ReadonlyArray<Route>,
  options: { readonly maxAttempts: number },
) {
  const findings: string[] = []
  const tally = { delivered: 0, rejected: 0, exhausted: 0, poison: 0, requests: 0, duplicates: 0, unknown: 0 }

  const [left] = yield* sql<{ deliveries: number; attempts: number; open: number }>`
    select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from delivery_attempts) as attempts,
      (select coalesce(sum(cardinality(open)), 0)::int from reader_positions) as open`
  if (left!.deliveries + left!.attempts + left!.open > 0) findings.push(`${JSON.stringify(left)} are left behind`)

  for (const { partner, organizationId, endpointId, published } of routes) {
    const name = `${partner.kind} ${endpointId}`
    // A write with a lost commit reply is repeated, so the history may contain the same outcome twice.
    const finished = yield* sql<Finished>`
      select id, event_id as "eventId", 'delivered' as state, attempts from delivered
      where endpoint_id = ${endpointId} and event_id is not null
      union
      select each->>'id', each->>'eventId', 'delivered', jsonb_build_array(each->'attempt')
      from delivered cross join json_array_elements(deliveries) each where endpoint_id = ${endpointId}
      union
      select id, event_id, reason, attempts from dead_letters where endpoint_id = ${endpointId}`
    const events = yield* sql<{ id: string }>`select id from events where organization_id = ${organizationId}`
    const ended = new Set(finished.map(({ eventId }) => eventId))
    const stored = new Set(events.map(({ id }) => id))
    if (published.some((id) => !stored.has(id)))
      findings.push(`${name}: an event is gone whose publication was acknowledged`)
    if (finished.length !== ended.size) findings.push(`${name}: an event has two outcomes`)
    if (stored.size !== ended.size || events.some(({ id }) => !ended.has(id))) {
      findings.push(`${name}: ${stored.size} events, ${ended.size} outcomes`)
    }
    for (const delivery of finished) {
      tally[delivery.state] += 1
      const seen = partner.seen.get(delivery.id)
      const complain = (what: string) => findings.push(`${name}: ${delivery.id}, ${delivery.state}, ${what}`)
      if (seen !== undefined && seen.eventId !== delivery.eventId) complain("came with another event")
      if (delivery.state === "delivered" && !seen?.accepted) complain("never arrived")
      if (delivery.state !== "poison" && ["fast", "slow"].includes(partner.kind) && delivery.state !== "delivered") {
        complain("though its partner accepts")
      }

      const known = delivery.attempts.filter(({ outcome }) => outcome !== UNKNOWN)
      const lost = delivery.attempts.length - known.length
      tally.unknown += lost
      if (known.some(({ number }, i) => number !== i + 1)) complain("has attempts that are missing or made twice")
      if (delivery.state === "exhausted" && known.length !== options.maxAttempts)
        complain(`at ${known.length} attempts`)
      if (delivery.state === "rejected" && known.at(-1)!.outcome !== "client_error") complain("without a 4xx")
      if (delivery.state === "poison" && lost < MAX_LOSSES) complain(`after ${lost} lost workers`)
      if (known.length > options.maxAttempts) complain(`at ${known.length} attempts`)

      // Repeated requests for an attempt are attributed to a worker that died with it.
      for (const [number, requests] of seen?.requests ?? []) {
        const allowed = delivery.attempts.filter((attempt) => attempt.number === number).length
        if (requests > allowed) complain(`attempt ${number} came ${requests} times, and is on record ${allowed} times`)
        tally.requests += requests
        tally.duplicates += requests - 1
      }
      if (known.some(({ number, status }) => status !== null && !seen?.requests.has(number))) {
        complain("has an answer to a request that never came")
      }
    }
    findings.push(...partner.faults.map((fault) => `${name}: ${fault}`))
  }
  return { tally, findings }
})
