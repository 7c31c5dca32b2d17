import { parseArgs } from "node:util"
import { soak } from "./soak.ts"

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "200000" },
    seconds: { type: "string" },
    mode: { type: "string", default: "random" },
  },
})
if (values.mode !== "random" && values.mode !== "steps") throw new Error("--mode must be random or steps")

process.once("SIGINT", () => process.exit(130))
const { findings, recoveries, ...outcome } = await soak({
  events: Number(values.events),
  ...(values.seconds !== undefined && { seconds: Number(values.seconds) }),
  callSeconds: 2,
  leaseSeconds: 7,
  schedule: [1, 1, 2, 2, 3, 3],
  hopeless: 3,
  databaseKills: { everyMs: 20_000 },
  ...(values.mode === "random"
    ? { workerKills: { everyMs: 4000 } }
    : { stepDeaths: { each: Number.POSITIVE_INFINITY, oneIn: 300 } }),
  progress: console.log,
})
const sorted = recoveries.seconds.toSorted((a, b) => a - b)
console.log({
  ...outcome,
  recovery: {
    judged: sorted.length,
    median: sorted[sorted.length >> 1],
    longest: sorted.at(-1),
    unjudged: recoveries.unjudged,
  },
})
for (const finding of findings.slice(0, 50)) console.error(finding)
console.log(
  findings.length === 0
    ? "Nothing was lost, and nothing sent again except after a lost worker."
    : `${findings.length} findings`,
)
process.exitCode = findings.length === 0 ? 0 : 1
