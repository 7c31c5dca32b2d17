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
  /** Called when a worker died by SIGKILL, with the step. */
  readonly died: (step: Step | undefined) => void
}

/** Worker processes that are restarted when they end, until the fleet stops. */
export const startFleet = ({ databaseUrl, settings, skews, stepDeaths, died }: FleetOptions) => {
  const workers: Array<{ readonly child: ChildProcess; readonly ended: Promise<unknown> }> = []
  const complaints: string[] = []
  let stopping = false
  let starts = 0

  const start = (place: number): void => {
    const dies = stepDeaths !== undefined && starts < STEPS.length * stepDeaths.each
    const step = STEPS[starts++ % STEPS.length]!
    const entry = dies ? import.meta.resolve("./steppedWorker.ts") : import.meta.resolve("../../src/main.ts")
    const child = spawn(process.execPath, ["--import", import.meta.resolve("./skewClock.ts"), fileURLToPath(entry)], {
      env: settingsFor(databaseUrl, {
        LOG_LEVEL: "none",
        WRONG_CLOCK_SECONDS: String(skews[place]),
        ...(dies && { DIE_AT: step, DIE_ONE_IN: String(stepDeaths.oneIn) }),
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
      if (signal === "SIGKILL") died(STEPS.find((step) => said.includes(step)))
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
