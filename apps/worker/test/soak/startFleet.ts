import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { settingsFor } from "../startWorker.ts"

/** Steps at which a worker may die. */
export const STEPS = [
  // First, so that other workers die while it lives.
  "during takeover",
  "after read",
  "before POST",
  "after POST",
  "before write",
  "inside write",
] as const
export type Step = (typeof STEPS)[number]

/** Lets workers die at each step a number of times, or forever, on average after this number of executions. */
export interface StepDeaths {
  readonly each: number
  readonly oneIn: number
}

export interface FleetOptions {
  readonly databaseUrl: string
  readonly settings: Readonly<Record<string, string>>
  /** Clock error of each worker in seconds; determines the number of workers. */
  readonly skews: ReadonlyArray<number>
  readonly stepDeaths?: StepDeaths
  /** Called when a worker died by SIGKILL. */
  readonly died: () => void
}

/** Worker processes that are restarted when they end, until the fleet stops. */
export const startFleet = ({ databaseUrl, settings, skews, stepDeaths, died }: FleetOptions) => {
  const workers: Array<{ readonly child: ChildProcess; readonly ended: Promise<unknown> }> = []
  const complaints: string[] = []
  const deaths = new Map<Step | "at random", number>()
  const { each = 0, oneIn } = stepDeaths ?? {}
  const missing = () => (Number.isFinite(each) ? STEPS.findLast((step) => (deaths.get(step) ?? 0) < each) : undefined)
  let stopping = false
  let starts = 0

  const start = (place: number): void => {
    const step = starts < STEPS.length * each ? STEPS[starts % STEPS.length] : missing()
    starts++
    const entry = step ? import.meta.resolve("./steppedWorker.ts") : import.meta.resolve("../../src/main.ts")
    const child = spawn(process.execPath, ["--import", import.meta.resolve("./skewClock.ts"), fileURLToPath(entry)], {
      env: settingsFor(databaseUrl, {
        LOG_LEVEL: "none",
        WRONG_CLOCK_SECONDS: String(skews[place]),
        ...(step && { DIE_AT: step, DIE_ONE_IN: String(oneIn) }),
        ...settings,
      }),
      stdio: ["ignore", "pipe", "pipe"],
    })
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk
    })
    child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk.toString()))
    const ended = once(child, "close").then(([code, signal]) => {
      if (signal === "SIGKILL") {
        const at = STEPS.find((name) => said.includes(name)) ?? "at random"
        deaths.set(at, (deaths.get(at) ?? 0) + 1)
        died()
      }
      // A worker that is stopped while loading has no work to finish.
      else if (stopping && signal === "SIGTERM" && !said.includes("loaded")) return
      else if (code !== 0 || !stopping) complaints.push(`a worker ended with ${signal ?? code}`)
      if (!stopping) start(place)
    })
    workers[place] = { child, ended }
  }
  for (const place of skews.keys()) start(place)
  const killAll = () => {
    for (const { child } of workers) child.kill("SIGKILL")
  }
  process.once("exit", killAll)

  return {
    /** Standard error of the workers, and unexpected exits. */
    complaints,
    /** Number of deaths by step. */
    deaths,
    /** Returns the last step at which too few workers died, if any. */
    missing,
    /** Kills a random worker, which is replaced. */
    killAny: async () => {
      const { child, ended } = workers[Math.floor(Math.random() * workers.length)]!
      child.kill("SIGKILL")
      await ended
    },
    stop: async () => {
      stopping = true
      for (const { child } of workers) child.kill("SIGTERM")
      await Promise.all(workers.map(({ ended }) => ended))
      process.off("exit", killAll)
    },
  }
}
