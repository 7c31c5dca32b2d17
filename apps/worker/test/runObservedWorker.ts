import { eventually } from "@outreach/testing/eventually"
import { runWorker } from "./runWorker.ts"

/** Runs a worker in this process, and finds where it answers its operators. */
export const runObservedWorker = async (databaseUrl: string, settings: Record<string, string>) => {
  const worker = await runWorker(databaseUrl, settings)
  const port = await eventually(
    () => /admin port open.*?"port":(\d+)/.exec(worker.output.log)?.[1],
    (port) => port !== undefined,
  )
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }
  /** Asks for a metric until it satisfies; returns its samples by their labels. */
  const metric = (name: string, satisfies: (samples: Record<string, number>) => boolean) =>
    eventually(async () => samples((await ask("/metrics")).text, name), satisfies)
  return { ...worker, ask, metric }
}

/** Reads the samples of a metric by their labels. */
export const samples = (text: string, name: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(`^${name}(?:\\{\\w+="(.*)"\\})? (\\S+)$`, "gm"))].map(([, label = "", value]) => [
      label,
      Number(value),
    ]),
  )
