import { Client } from "pg"

/** Runs `use` with a connection. */
export async function withClient<A>(url: string, use: (client: Client) => Promise<A>): Promise<A> {
  const client = new Client({ connectionString: url, application_name: "embedded postgres" })
  client.on("error", () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
