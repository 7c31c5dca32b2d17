import { Client } from "pg"

/** Runs `use` with a connection. With `limitMs`, connecting and each statement fail after that time. */
export async function withClient<A>(url: string, use: (client: Client) => Promise<A>, limitMs = 0): Promise<A> {
  const client = new Client({
    ...{ connectionString: url, application_name: "embedded postgres" },
    ...{ connectionTimeoutMillis: limitMs, query_timeout: limitMs },
  })
  client.on("error", () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
