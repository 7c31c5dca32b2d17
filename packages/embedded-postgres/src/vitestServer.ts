import type { TestProject } from "vitest/node"
import { type Postgres, startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

/** Provides a PostgreSQL server to the tests of a run, as vitest's `globalSetup`. */
export default async function vitestServer(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await testServer()
  project.provide("postgresUrl", url)
  return stop
}

/** Returns the server of `DATABASE_URL`, or starts an embedded one if the variable is not set. */
export async function testServer(): Promise<Pick<Postgres, "url" | "stop">> {
  const url = process.env["DATABASE_URL"]
  if (!url) return await startPostgres()
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Error("DATABASE_URL is not a postgres:// address.")
  }
  return { url, stop: async () => {} }
}
