import type { TestProject } from "vitest/node"
import { type Postgres, type StartOptions, startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

/** Provides a PostgreSQL server to the tests of a run, as vitest's `globalSetup`. */
export default async function vitestServer(
  project: TestProject,
  options: Pick<StartOptions, "inMemory"> = {},
): Promise<() => Promise<void>> {
  const { url, stop } = await testServer(options)
  project.provide("postgresUrl", url)
  return stop
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
