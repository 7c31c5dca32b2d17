import { openPersistent, openTemporary, type SupervisorInput, type SupervisorResult } from "./openCluster.ts"

// Each server has one supervisor process. Its standard input is a pipe from the parent, the process that requested the server.
// When the parent ends, by Ctrl-C, an exception or kill -9, the pipe closes and the supervisor stops the server.

const input = JSON.parse(process.argv[2] ?? "") as SupervisorInput

const stopRequested = new Promise<void>((resolve) => {
  process.stdin.on("end", resolve).on("error", resolve).resume()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve())
})
// The parent may be dead, and its end of the pipe closed.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const printResult = (result: SupervisorResult) => process.stdout.write(`${JSON.stringify(result)}\n`)
try {
  const open = input.dataDirectory === undefined ? openTemporary : openPersistent
  const { close, ...cluster } = await open(input)
  printResult(cluster)
  await stopRequested
  await close()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  printResult({ error: message })
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
process.stdin.destroy()
