import { openPersistent, openTemporary } from "./openCluster.ts"
import type { Settings } from "./server.ts"

// Each server has one supervisor process. Its standard input is a pipe from the parent, the process that asked for the server.
// When the parent ends, by Ctrl-C, an exception or kill -9, the pipe closes and the supervisor stops the server.

/** The supervisor's only argument, as JSON. */
export interface SupervisorInput {
  readonly dataDirectory: string | undefined
  readonly fresh: boolean
  readonly port: number | undefined
  readonly settings: Settings
  readonly files: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  /** A folder with `data` and `password`, which becomes the folder of a temporary cluster. */
  readonly base: string | undefined
  readonly parent: string
}

/** The line of JSON that the supervisor prints once the server runs or has failed to start. */
export type SupervisorResult =
  | { readonly url: string; readonly port: number; readonly data: string }
  | { readonly error: string }

const { dataDirectory, ...input } = JSON.parse(process.argv[2] ?? "") as SupervisorInput

const stopRequested = new Promise<void>((resolve) => {
  process.stdin.on("end", resolve).on("error", resolve).resume()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve())
})
// The parent may be dead, and then nobody reads the output.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const printResult = (result: SupervisorResult) => process.stdout.write(`${JSON.stringify(result)}\n`)
try {
  const cluster = await (dataDirectory === undefined ? openTemporary(input) : openPersistent(dataDirectory, input))
  printResult({ url: cluster.url, port: cluster.port, data: cluster.data })
  await stopRequested
  await cluster.close()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  printResult({ error: message })
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
process.stdin.destroy()
