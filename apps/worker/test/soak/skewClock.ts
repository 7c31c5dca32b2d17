import { writeSync } from "node:fs"

// Loaded before a worker's modules: its wall clock is wrong by WRONG_CLOCK_SECONDS, while timers are correct.
const skewMs = 1000 * Number(process.env["WRONG_CLOCK_SECONDS"])
const RightDate = Date

globalThis.Date = new Proxy(RightDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [RightDate.now() + skewMs] : given, newTarget),
  apply: () => new RightDate(RightDate.now() + skewMs).toString(),
  get: (target, name) => (name === "now" ? () => RightDate.now() + skewMs : Reflect.get(target, name)),
})

// Reports that SIGTERM is handled. The event precedes adding its listener, in the same turn.
process.on("newListener", (name) => {
  if (name === "SIGTERM") queueMicrotask(() => writeSync(1, "loaded\n"))
})
