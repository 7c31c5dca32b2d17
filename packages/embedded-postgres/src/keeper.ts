import { openKept, openTemporary } from "./openCluster.ts"

// The process that stands beside each server. Its standard input is a pipe from the process that wanted the server:
// however that one ends, be it by Ctrl-C, an exception or kill -9, the pipe closes, and the server is stopped.

/** What the keeper is told, as JSON in its one argument. */
export interface Task {
  readonly dataDirectory: string | undefined
  readonly fresh: boolean
  readonly port: number | undefined
  readonly parent: string
}

/** What the keeper answers, as one line of JSON. */
export type Answer = { readonly url: string; readonly port: number } | { readonly error: string }

const { dataDirectory, fresh, port, parent } = JSON.parse(process.argv[2] ?? "") as Task

const released = new Promise<void>((resolve) => {
  process.stdin.on("end", resolve).on("error", resolve).resume()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve())
})
// Nobody may be left to read the answer.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const answer = (line: Answer) => process.stdout.write(`${JSON.stringify(line)}\n`)
try {
  const cluster = await (dataDirectory === undefined
    ? openTemporary(port)
    : openKept(dataDirectory, { fresh, port, parent }))
  answer({ url: cluster.url, port: cluster.port })
  await released
  await cluster.close()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  answer({ error: message })
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
process.stdin.destroy()
