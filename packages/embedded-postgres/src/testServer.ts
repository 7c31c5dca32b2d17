import { startPostgres } from "./startPostgres.ts"

/** A PostgreSQL server for tests. */
export interface TestServer {
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
