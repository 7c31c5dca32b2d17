import { partner } from "@outreach/testing/partner"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { READ_AHEAD } from "../../src/deliveries/DeliveryScheduler.ts"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run } = journey()

const EVENTS = 200
const PER_ENDPOINT = 16
/** Calls in flight don't end by themselves in the meantime. */
const settings = { WEBHOOK_CALL_SECONDS: "120", WEBHOOK_LEASE_SECONDS: "3" }

interface Ended {
  readonly id: string
  readonly attempts: ReadonlyArray<{ readonly outcome: string; readonly response: string | null }>
}

it("stores no outcomes of a worker that was suspended during a takeover, and limits repeats to its read-ahead", async () => {
  const held: Array<() => void> = []
  let isHolding = true
  const to = await partner((_, response) => {
    if (isHolding) held.push(() => response.end("late"))
    else response.end("in time")
  })
  const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: to.url }))
  to.trust(secret)
  const ended = () =>
    run(sql<Ended>`
      select each->>'id' as id, jsonb_build_array(each->'attempt') as attempts
      from delivered cross join json_array_elements(deliveries) each where endpoint_id = ${endpoint.id}
      union all
      select id, attempts from delivered where endpoint_id = ${endpoint.id} and event_id is not null`)

  const stopped = await startWorker(url(), settings)
  await run(publishSent(campaign, EVENTS))
  await until(to, () => held.length === PER_ENDPOINT)
  stopped.child.kill("SIGSTOP")
  isHolding = false

  const other = await startWorker(url(), settings)
  expect(await eventually(ended, ({ length }) => length === EVENTS)).toHaveLength(EVENTS)
  const before = to.received.length
  expect(before).toBeLessThanOrEqual(EVENTS + PER_ENDPOINT)

  stopped.child.kill("SIGCONT")
  for (const answer of held) answer()
  // The worker logs this after trying to write each outcome.
  await until(stopped, "endpoint taken over before the outcome was written", { count: PER_ENDPOINT })
  expect(to.received.length - before).toBeLessThanOrEqual((READ_AHEAD - 1) * PER_ENDPOINT)

  const history = await ended()
  expect(new Set(history.map(({ id }) => id)).size).toBe(EVENTS)
  expect(history).toHaveLength(EVENTS)
  for (const { id, attempts } of history) {
    const requests = to.received.filter(({ deliveryId }) => deliveryId === id).length
    expect(requests).toBeLessThanOrEqual(attempts.length)
    const known = attempts.filter(({ outcome }) => outcome !== "outcome_unknown")
    expect(known.map(({ response }) => response)).toEqual(["in time"])
  }

  // Both continue with their own endpoints.
  await run(publishSent(campaign, 20))
  expect(await eventually(ended, ({ length }) => length === EVENTS + 20)).toHaveLength(EVENTS + 20)
  expect([other.over(), stopped.over()]).toEqual([undefined, undefined])
})
