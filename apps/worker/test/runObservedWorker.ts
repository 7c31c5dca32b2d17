import { urlIn } from "@outreach/testing/startProcess"
import { eventually, until } from "@outreach/testing/until"
import { runWorker } from "./runWorker.ts"

/** Runs a worker in this process, and finds its admin port. */
export const runObservedWorker = async (databaseUrl: string, settings: Record<string, string>) => {
  const worker = await runWorker(databaseUrl, settings)
  const url = urlIn(await until(worker, "admin port open"))
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`${url}${path}`, { method })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }
  /** Reads a metric until it meets a condition. Returns its samples by label. */
  const metric = (name: string, satisfies: (samples: Record<string, number>) => boolean) =>
    eventually(async () => samples((await ask("/metrics")).text, name), satisfies)
  return Object.assign(worker, { ask, metric })
}

/** Reads the samples of a metric by label. */
export const samples = (text: string, name: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(`^${name}(?:\\{\\w+="(.*)"\\})? (\\S+)$`, "gm"))].map(([, label = "", value]) => [
      label,
      Number(value),
    ]),
  )
