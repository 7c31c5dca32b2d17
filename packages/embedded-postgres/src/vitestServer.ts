import type { TestProject } from "vitest/node"
import { type TestServer, testServer } from "./testServer.ts"

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
