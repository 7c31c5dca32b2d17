import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startNeighbours } from "./startNeighbours.ts"

// Alternates between runs in which some partners answer nothing and runs in which all answer, and compares how long the others
// waited. Many short runs, so that what else the machine does falls upon both kinds.
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "8" },
  },
})
const CASES = { one: { hanging: 1, healthy: 99 }, many: { hanging: 200, healthy: 20 } }
const ROUNDS = Number(values.rounds)
const SECONDS = 8
const WARM_UP_SECONDS = 2
const EVENTS_PER_SECOND = 150
/** Shorter than the default, so that each run sees calls end at their deadline, and the probes that follow. */
const CALL_SECONDS = 5
/** All that may be in flight to one partner, and more that waits. */
const SICK_FROM_THE_START = 30

process.once("SIGINT", () => process.exit(130))
if (values.only !== undefined && !(values.only in CASES)) throw new Error("--only must be one or many")
for (const [name, partners] of Object.entries(CASES)) {
  if (values.only === undefined || values.only === name) await compare(partners)
}

async function compare(partners: { readonly hanging: number; readonly healthy: number }): Promise<void> {
  let latencies: number[] = []
  const neighbours = await startNeighbours({
    ...partners,
    callSeconds: CALL_SECONDS,
    arrived: (millis) => latencies.push(millis),
  })
  const { sick, healthy } = neighbours
  const all = [...sick, ...healthy]

  const load = async (seconds: number) => {
    const began = performance.now()
    const publishing: Array<Promise<unknown>> = []
    for (let i = 0; i < seconds * EVENTS_PER_SECOND; i++) {
      const ahead = (i * 1000) / EVENTS_PER_SECOND - (performance.now() - began)
      if (ahead > 1) await setTimeout(ahead)
      publishing.push(all[i % all.length]!.publish(1))
    }
    await Promise.all(publishing)
  }
  const quantile = (share: number) => latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * share)]!

  const run = async (kind: "hanging" | "fast") => {
    for (const { become } of sick) await become(kind)
    for (const { publish } of sick) await publish(SICK_FROM_THE_START)
    await load(WARM_UP_SECONDS)
    latencies = []
    await load(SECONDS)
    const answer = { p50: quantile(0.5), p99: quantile(0.99) }
    for (const { become } of sick) await become("fast")
    await neighbours.rest()
    return answer
  }

  // The workers have taken all endpoints once each has had something.
  for (const { publish } of all) await publish(1)
  await neighbours.rest()
  console.log(`${partners.hanging} of ${all.length} partners hang:`)
  const ratios: number[] = []
  const noise: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    // What hangs stands between two runs without it, whose difference is the machine's.
    const [before, beside, after] = [await run("fast"), await run("hanging"), await run("fast")]
    ratios.push(beside.p99 / Math.sqrt(before.p99 * after.p99))
    noise.push(after.p99 / before.p99)
    const [p50, p99] = (["p50", "p99"] as const).map((of) =>
      [before, beside, after].map((run) => run[of].toFixed(1)).join(" · "),
    )
    console.log(`round ${round}: without, beside, without those that hang: p50 ${p50} ms, p99 ${p99} ms`)
  }
  await neighbours.stop()
  console.log(`p99 beside those that hang ÷ p99 without: ${describe(ratios)}`)
  console.log(`p99 without ÷ p99 without, for the machine's own noise: ${describe(noise)}`)
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
}

function describe(ratios: readonly number[]): string {
  return `median ${middle(ratios).toFixed(2)}, from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
}
