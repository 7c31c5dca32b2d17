import { setTimeout } from "node:timers/promises"
import { startNeighbours } from "./startNeighbours.ts"

// Alternates between runs in which one partner of a hundred answers nothing and runs in which all answer, and compares how long
// the others waited.
const ROUNDS = 7
const SECONDS = 15
const WARM_UP_SECONDS = 3
const EVENTS_PER_SECOND = 150
/** The specification's: what hangs does so for this long. */
const CALL_SECONDS = 15

process.once("SIGINT", () => process.exit(130))
let latencies: number[] = []
const neighbours = await startNeighbours({ callSeconds: CALL_SECONDS, arrived: (millis) => latencies.push(millis) })
const { sick, healthy } = neighbours
const all = [sick, ...healthy]

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
  await sick.become(kind)
  await load(WARM_UP_SECONDS)
  latencies = []
  await load(SECONDS)
  const answer = { p50: quantile(0.5), p99: quantile(0.99), open: sick.open.size }
  await sick.become("fast")
  await neighbours.rest()
  return answer
}
const middle = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

const ratios: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const order = round % 2 === 0 ? (["fast", "hanging"] as const) : (["hanging", "fast"] as const)
  const [first, second] = [await run(order[0]), await run(order[1])]
  const [without, beside] = order[0] === "fast" ? [first, second] : [second, first]
  ratios.push(beside.p99 / without.p99)
  console.log(
    `round ${round + 1}: p50 ${without.p50.toFixed(1)} ms, p99 ${without.p99.toFixed(1)} ms; ` +
      `beside one that hangs, with ${beside.open} calls open: p50 ${beside.p50.toFixed(1)} ms, p99 ${beside.p99.toFixed(1)} ms; ` +
      `ratio of the p99 ${ratios.at(-1)!.toFixed(2)}`,
  )
}
await neighbours.stop()
console.log(
  `ratio of the p99: median ${middle(ratios).toFixed(2)}, from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
)
