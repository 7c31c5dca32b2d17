import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestProject } from "vitest/node"
import { type Postgres, type StartOptions, startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Where a GET starts the run's PostgreSQL server, unless it runs, and returns its address. */
    readonly postgresStarter: string
  }
}

/** Lets the tests of a run start one PostgreSQL server when the first of them needs it, as vitest's `globalSetup`. */
export default async function vitestServer(
  project: TestProject,
  options: Pick<StartOptions, "inMemory"> = {},
): Promise<() => Promise<void>> {
  let server: ReturnType<typeof testServer> | undefined
  const path = `/${randomUUID()}`
  const starter = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    server ??= testServer(options)
    try {
      response.end((await server).url)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }).listen(0, "127.0.0.1")
  await once(starter, "listening")
  project.provide("postgresStarter", `http://127.0.0.1:${(starter.address() as AddressInfo).port}${path}`)
  return async () => {
    starter.close()
    starter.closeAllConnections()
    const started = await server?.catch(() => undefined)
    await started?.stop()
  }
}

/** Returns the server of `DATABASE_URL`, or starts an embedded one if the variable is not set. */
export async function testServer(
  options: Pick<StartOptions, "inMemory"> = {},
): Promise<Pick<Postgres, "url" | "stop">> {
  const url = process.env["DATABASE_URL"]
  if (!url) return await startPostgres(options)
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Error("DATABASE_URL is not a postgres:// address.")
  }
  return { url, stop: async () => {} }
}
