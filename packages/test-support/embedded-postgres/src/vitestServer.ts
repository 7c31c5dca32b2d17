import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestProject } from "vitest/node"
import { type Postgres, startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Where a GET starts the run's PostgreSQL server, unless it runs, and returns its address. */
    readonly postgresStarter: string
  }
}

/** Lets the tests of a run start one PostgreSQL server when the first of them needs it, as vitest's `globalSetup`. In memory, a clone takes a tenth of the CPU time. */
export default async function vitestServer(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<Postgres> | undefined
  const path = `/${randomUUID()}`
  const starter = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    server ??= startPostgres({ inMemory: true })
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
