import type { TestProject } from "vitest/node"
import { startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

interface Shared {
  users: number
  readonly server: Promise<TestServer>
}

// Each project of a run loads its own copy of this module, so the copies share the server through `globalThis`.
const processWide = globalThis as { [key: symbol]: Shared | undefined }
const key = Symbol.for("@outreach/embedded-postgres/vitestServer")

/**
 * Provides a PostgreSQL server to the tests of a project, as vitest's `globalSetup`. All projects of a run share it, and the
 * last to finish stops it.
 */
export default async function vitestServer(project: TestProject): Promise<() => Promise<void>> {
  processWide[key] ??= { users: 0, server: testServer() }
  const shared = processWide[key]
  shared.users += 1
  const leave = async () => {
    shared.users -= 1
    if (shared.users > 0) return
    processWide[key] = undefined
    await (await shared.server).stop()
  }
  try {
    project.provide("postgresUrl", (await shared.server).url)
    return leave
  } catch (error) {
    processWide[key] = undefined
    throw error
  }
}

/** A PostgreSQL server for tests. */
interface TestServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Returns the server of `DATABASE_URL`, or starts an embedded one if the variable is not set. */
export async function testServer(): Promise<TestServer> {
  const url = process.env["DATABASE_URL"]
  if (!url) return await startPostgres()
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Error("DATABASE_URL is not a postgres:// address.")
  }
  return { url, stop: async () => {} }
}
