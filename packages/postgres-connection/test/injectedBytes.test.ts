import { createServer } from "node:net"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { listen } from "@outreach/testing/listen"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"

/** `SSLRequest` of PostgreSQL's protocol. */
const SSL_REQUEST = "0000000804d2162f"

/** Starts a server that answers the first packet of each client, and stores all input. */
const serverThatAnswers = async (answer: Uint8Array) => {
  const heard: Buffer[] = []
  const port = await listen(
    createServer((socket) => {
      socket.once("data", () => socket.write(answer))
      socket.on("data", (bytes) => heard.push(bytes))
    }),
  )
  return { port, heard: () => Buffer.concat(heard).toString("hex") }
}

const connect = (port: number, sslmode: string) =>
  Effect.runPromise(
    SqlClient.SqlClient.use((sql) => sql`select 1 as one`).pipe(
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
      Effect.provide(
        databaseLayer({
          database: databaseAt(`postgres://x@127.0.0.1:${port}/x?sslmode=${sslmode}&connect_timeout=60`),
          applicationName: "test",
        }),
      ),
    ),
  )

// Data injected before the encryption would be read as the server's (CVE-2021-23222).
describe.each(["prefer", "require"])("bytes behind the answer to SSLRequest, with sslmode=%s,", (sslmode) => {
  it.each([
    ["consent and a message", Buffer.from("SR\0\0\0\x08\0\0\0\0")],
    ["consent twice", Buffer.from("SS")],
    ["refusal and a message", Buffer.from("NR\0\0\0\x08\0\0\0\0")],
  ])("as in %s, end the connection before anything else is said", async (_, answer) => {
    const server = await serverThatAnswers(answer)
    expect(await connect(server.port, sslmode)).toBe("EPROTO")
    expect(server.heard()).toMatch(new RegExp(`^(?:${SSL_REQUEST})+$`))
  })
})
