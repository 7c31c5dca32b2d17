import { Client } from "pg"

/** Runs one statement on a new connection. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  // A killed server also sends an error to idle clients.
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
