import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startNeighbours } from "./startNeighbours.ts"

// Alternates between runs in which some partners don't respond, or have unresolvable names, and runs in which all respond, and
// compares the latency of the healthy ones. Uses many short runs, so that other load on the machine affects both kinds.
const { values } = parseArgs({
  options: { only: { type: "string" }, rounds: { type: "string", default: "8" } },
})
interface Partners {
  readonly hanging: number
  readonly healthy: number
  /** Unresolvable names of an additional partner; the healthy partners are then called by name, too. */
  readonly deadNames?: number
}
const CASES: Readonly<Record<string, Partners>> = {
  one: { hanging: 1, healthy: 99 },
  many: { hanging: 200, healthy: 20 },
  names3: { hanging: 0, healthy: 100, deadNames: 3 },
  names15: { hanging: 0, healthy: 100, deadNames: 15 },
  names200: { hanging: 0, healthy: 100, deadNames: 200 },
}
/** Allowed cost of dead names: p99 relative to runs without them, and seconds until the workers are reconnected. */
const MAX_RATIO = 1.5
const MAX_RECONNECT_SECONDS = 3
const ROUNDS = Number(values.rounds)
const SECONDS = 8
const WARM_UP_SECONDS = 2
const EVENTS_PER_SECOND = 150
/** Shorter than the default, so that each run includes timeouts and the following probes. */
const CALL_SECONDS = 5
/** The maximum calls in flight to one partner, and some waiting events. */
const SICK_FROM_THE_START = 30
const DEAD_FROM_THE_START = 2

process.once("SIGINT", () => process.exit(130))
if (values.only !== undefined && !(values.only in CASES))
  throw new Error(`--only must be one of ${Object.keys(CASES).join(", ")}`)
for (const [name, partners] of Object.entries(CASES)) {
  if (values.only === undefined || values.only === name) await compare(partners)
}

async function compare(partners: Partners): Promise<void> {
  let latencies: number[] = []
  const neighbours = await startNeighbours({
    ...partners,
    callSeconds: CALL_SECONDS,
    arrived: (millis) => latencies.push(millis),
  })
  const { dead, healthy } = neighbours
  const sick = dead === undefined ? neighbours.sick : [dead]
  const all = dead === undefined ? [...sick, ...healthy] : healthy

  let areDead = false
  const load = async (seconds: number) => {
    const began = performance.now()
    const publishing: Array<Promise<unknown>> = []
    for (let i = 0; i < seconds * EVENTS_PER_SECOND; i++) {
      const ahead = (i * 1000) / EVENTS_PER_SECOND - (performance.now() - began)
      if (ahead > 1) await setTimeout(ahead)
      publishing.push(all[i % all.length]!.publish(1))
      // Each of its events goes to all of its endpoints. While its names resolve it has none, so that it doesn't affect the other partners.
      if (areDead && i % (4 * EVENTS_PER_SECOND) === 0) publishing.push(dead!.publish(1))
    }
    await Promise.all(publishing)
  }
  const quantile = (share: number) => latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * share)]!

  const reconnects: number[] = []
  let openBreakers = 0
  const run = async (kind: "hanging" | "fast") => {
    for (const { become } of sick) await become(kind)
    areDead = dead !== undefined && kind === "hanging"
    if (areDead) await dead!.publish(DEAD_FROM_THE_START)
    else for (const { publish } of neighbours.sick) await publish(SICK_FROM_THE_START)
    await load(WARM_UP_SECONDS)
    latencies = []
    await load(SECONDS)
    openBreakers += await neighbours.countOpenBreakers()
    const answer = { p50: quantile(0.5), p99: quantile(0.99) }
    if (kind === "hanging" && partners.deadNames !== undefined) reconnects.push(await neighbours.reconnect())
    for (const { become } of sick) await become("fast")
    await neighbours.rest()
    return answer
  }

  // The workers own an endpoint after its first delivery.
  for (const { publish } of all) await publish(1)
  await neighbours.rest()
  console.log(
    partners.deadNames === undefined
      ? `${partners.hanging} of ${all.length} partners hang:`
      : `${partners.deadNames} names of one partner do not resolve, beside ${partners.healthy} partners with names:`,
  )
  const ratios: number[] = []
  const noise: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    // Each run with hanging partners is between two runs without; the difference of those is noise.
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
  if (partners.deadNames === undefined) return
  console.log(`open breakers of the others after a load: ${openBreakers}`)
  console.log(`seconds until both workers had found the database again: ${describe(reconnects)}`)
  const isKept = middle(ratios) <= MAX_RATIO && openBreakers === 0 && Math.max(...reconnects) <= MAX_RECONNECT_SECONDS
  console.log(isKept ? "kept every promise" : "broke a promise")
  if (!isKept) process.exitCode = 1
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
}

function describe(ratios: readonly number[]): string {
  return `median ${middle(ratios).toFixed(2)}, from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
}
