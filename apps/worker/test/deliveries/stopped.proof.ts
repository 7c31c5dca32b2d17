import { setTimeout } from "node:timers/promises"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, query } = journey()

const EVENTS = 200
const PER_ENDPOINT = 16
const STOPPED_MS = 30_000
/** So that nothing in flight ends by itself meanwhile. */
const settings = { WEBHOOK_CALL_SECONDS: "120" }

interface Ended {
  readonly id: string
  readonly attempts: ReadonlyArray<{ readonly outcome: string; readonly response: string | null }>
}

it("settles nothing for a worker that was stopped for half a minute, and repeats no more than it had read", async () => {
  const held: Array<() => void> = []
  let isHolding = true
  const to = await partner((_, response) => {
    if (isHolding) held.push(() => response.end("late"))
    else response.end("in time")
  })
  const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: to.url }))
  to.trust(secret)
  const ended = () =>
    query<Ended>(
      (sql) => sql`
        select each->>'id' as id, jsonb_build_array(each->'attempt') as attempts
        from delivered cross join json_array_elements(deliveries) each where endpoint_id = ${endpoint.id}
        union all
        select id, attempts from delivered where endpoint_id = ${endpoint.id} and event_id is not null`,
    )
  const open = async () => {
    const [row] = await query<{ count: number }>(
      (sql) => sql`select cardinality(open) as count from reader_positions where endpoint_id = ${endpoint.id}`,
    )
    return row!.count
  }

  const stopped = await startWorker(url(), settings)
  await run(publishSent(campaign, EVENTS))
  await eventually(
    () => held.length,
    (calls) => calls === PER_ENDPOINT,
  )
  await setTimeout(500)
  const read = await open()
  stopped.child.kill("SIGSTOP")
  isHolding = false
  const stoppedAt = performance.now()

  const other = await startWorker(url(), settings)
  expect(await eventually(ended, ({ length }) => length === EVENTS)).toHaveLength(EVENTS)
  console.log(`all delivered by another ${((performance.now() - stoppedAt) / 1000).toFixed(1)} s after the stop`)
  await setTimeout(Math.max(0, STOPPED_MS - (performance.now() - stoppedAt)))
  const before = to.received.length
  expect(before).toBeLessThanOrEqual(EVENTS + PER_ENDPOINT)

  stopped.child.kill("SIGCONT")
  for (const answer of held) answer()
  // It says so once it has tried to write their outcomes.
  const refused = () => stopped.text.split("endpoint taken over before the outcome was written").length - 1
  expect(await eventually(refused, (refused) => refused === PER_ENDPOINT)).toBe(PER_ENDPOINT)
  expect(to.received.length - before).toBeLessThanOrEqual(read - PER_ENDPOINT)
  console.log(`${to.received.length - EVENTS} repeats; ${read} were read, ${PER_ENDPOINT} of them in flight`)
  expect(to.received.length).toBeLessThanOrEqual(EVENTS + read)

  const history = await ended()
  expect(new Set(history.map(({ id }) => id)).size).toBe(EVENTS)
  expect(history).toHaveLength(EVENTS)
  for (const { id, attempts } of history) {
    const requests = to.received.filter(({ deliveryId }) => deliveryId === id).length
    expect(requests).toBeLessThanOrEqual(attempts.length)
    const known = attempts.filter(({ outcome }) => outcome !== "outcome_unknown")
    expect(known.map(({ response }) => response)).toEqual(["in time"])
  }

  // Both go on with what is theirs now.
  await run(publishSent(campaign, 20))
  expect(await eventually(ended, ({ length }) => length === EVENTS + 20)).toHaveLength(EVENTS + 20)
  expect(other.child.exitCode).toBe(null)
  expect(stopped.child.exitCode).toBe(null)
})
