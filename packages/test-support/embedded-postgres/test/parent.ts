import { pathToFileURL } from "node:url"

// A program with a server, for tests that end it in different ways. Arguments: the module, the data directory.
const [, , module = "", dataDirectory] = process.argv
const { startPostgres } = (await import(pathToFileURL(module).href)) as typeof import("../src/startPostgres.ts")

try {
  const { url } = await startPostgres(dataDirectory ? { dataDirectory } : {})
  process.stdout.write(`${JSON.stringify({ url })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`)
  process.exit(1)
}

process.stdin.on("data", () => {
  throw new Error("an exception that nobody catches")
})
