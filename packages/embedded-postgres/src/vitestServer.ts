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

// Each project of a run loads this module anew; they meet in the process.
const processWide = globalThis as { [key: symbol]: Shared | undefined }
const key = Symbol.for("@outreach/embedded-postgres/vitestServer")

/**
 * Gives the tests of a project a PostgreSQL server, as vitest's `globalSetup`. All projects of a run share one; the
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
