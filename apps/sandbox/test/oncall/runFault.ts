import { setTimeout } from "node:timers/promises"
import { eventually, until } from "@outreach/testing/until"
import type { Fault, Signal } from "./Fault.ts"
import { LIMIT_MS, type Stage } from "./startStage.ts"
import type { Unit } from "./startUnits.ts"

/** Maximum time for the previous fault's alert to resolve. */
const CLEARED_MS = 100_000
/** How long the run checks that an alert stays active. Stopped units restart within that time. */
const HOLDS_MS = 5000

/** Measured seconds: until each signal was seen, and until recovery after the remedy. */
export interface Measured {
  readonly seen: ReadonlyArray<number>
  readonly healthy: number
}

/**
 * Breaks the service, waits for each signal, runs the remedy, and waits for the recovery. Also returns problems: a missing signal,
 * or an alert that doesn't stay active. Throws if the service doesn't recover.
 */
export const runFault = async (
  fault: Fault,
  stage: Stage,
): Promise<Measured & { readonly problems: ReadonlyArray<string> }> => {
  const problems: Array<string> = []
  const alerts = fault.signals.flatMap((signal) => ("alert" in signal ? [signal.alert] : []))
  const isClear = (active: ReadonlyMap<string, number>) => !alerts.some((alert) => active.has(alert))
  await eventually(stage.prometheus.alerts, isClear, CLEARED_MS).catch(() => {
    problems.push(`one of ${alerts.join(", ")} is active before the fault`)
  })
  const broken = { at: performance.now(), wallClock: Date.now() }
  const mend = await fault.break(stage)
  const watch = async (signal: Signal): Promise<number> => {
    try {
      return inSeconds((await watchFor(signal, stage, broken)) - broken.at)
    } catch (error) {
      problems.push(`${JSON.stringify(signal)} was not seen: ${(error as Error).message}\n${await describe(stage)}`)
      return Number.NaN
    }
  }
  const seen = await Promise.all(fault.signals.map(watch))
  // An alert is sent only if it stays active for its whole `for`.
  const since = await stage.prometheus.alerts()
  if (alerts.length > 0) await setTimeout(HOLDS_MS)
  const still = await stage.prometheus.alerts()
  const ended = alerts.filter((alert) => still.get(alert) !== since.get(alert))
  if (ended.length > 0) problems.push(`${ended.join(", ")} did not hold`)
  await mend?.().catch((error: Error) => problems.push(error.message))
  const remediedAt = performance.now()
  for (const command of fault.remedy) {
    const { text, code } = await stage.shell(command)
    if (code !== 0) problems.push(`${command} failed: ${text}`)
  }
  await stage.healthy()
  const healthy = inSeconds(performance.now() - remediedAt)
  await fault.after?.(stage).catch((error: Error) => problems.push(error.message))
  return { seen, healthy, problems: problems.map((problem) => `${fault.name}: ${problem}`) }
}

/** Describes the units and alerts, for a missing signal. */
const describe = async (stage: Stage): Promise<string> => {
  const units = Object.values(stage.units).map(async ({ name, logged }) => {
    const last = logged.slice(-5).map(({ text }) => text.slice(0, 300))
    return [`${name}: ${await stage.readyz(name as Unit)}`, ...last].join("\n  ")
  })
  const alerts = [...(await stage.prometheus.alerts()).keys()]
  return [`alerts: ${alerts.join(", ")}`, ...(await Promise.all(units))].join("\n")
}

const inSeconds = (millis: number): number => Math.max(0, Math.round(millis / 1000))

/** Waits for a signal of a fault. Returns the monotonic time at which it was visible. */
const watchFor = async (
  signal: Signal,
  stage: Stage,
  broken: { readonly at: number; readonly wallClock: number },
): Promise<number> => {
  if ("alert" in signal) {
    const alerts = await eventually(stage.prometheus.alerts, (found) => found.has(signal.alert), LIMIT_MS)
    return broken.at + alerts.get(signal.alert)! - broken.wallClock
  }
  if ("log" in signal) {
    const found = await until(
      stage.units[signal.of],
      ({ logged }) => logged.find(({ at, text }) => at >= broken.at && text.includes(signal.log)),
      { withinMs: LIMIT_MS },
    )
    return found.at
  }
  if ("metric" in signal) {
    const before = await stage.metric(signal.of, signal.metric)
    await eventually(
      () => stage.metric(signal.of, signal.metric),
      (count) => count > before,
      LIMIT_MS,
    )
    return performance.now()
  }
  const [read, wanted] =
    "readyz" in signal
      ? [() => stage.readyz(signal.of), signal.readyz]
      : [async () => (await stage.shell(signal.command ?? "ops doctor")).text, signal.prints]
  await eventually(read, (text) => text.includes(wanted), LIMIT_MS)
  return performance.now()
}
