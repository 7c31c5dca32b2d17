import { readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { createSecureContext, TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { listen } from "@outreach/testing/listen"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { describe, expect, it, type TestContext } from "vitest"

const url = migratedDatabase()

const message = (kind: string, body: string | Uint8Array = ""): Buffer => {
  const bytes = Buffer.from(body as string)
  const head = Buffer.alloc(5, kind)
  head.writeUInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}
const withLength = (kind: string, length: number, body = ""): Buffer => {
  const bytes = message(kind, body)
  bytes.writeUInt32BE(length >>> 0, 1)
  return bytes
}

const STATEMENT = "select 1 as one"
const LET_IN = message("R", "\0\0\0\0")
const READY = message("Z", "I")
/** A complete session start. */
const SESSION = Buffer.concat([LET_IN, READY])
const ERROR = message("E", "SFATAL\0C53300\0Mtoo many connections of dana@clinic.test\0\0")

/** Starts a server with this behavior until the test is finished. */
const server = (behave: (socket: Socket) => void, test?: TestContext) =>
  listen(createServer(behave), test?.onTestFinished)
/** Sends bytes after the client's first packet. */
const afterStartup = (bytes: Uint8Array, then?: (socket: Socket) => void) => (socket: Socket) =>
  socket.once("data", () => {
    socket.write(bytes)
    then?.(socket)
  })
/** Forwards to the real server, and sends bytes as the response to the statement of `run`. */
const inStatement = (bytes: Uint8Array, then?: (socket: Socket) => void) => (client: Socket) => {
  const upstream = connect(Number(new URL(url()).port), "127.0.0.1").on("error", () => {})
  upstream.on("data", (received) => client.write(received))
  client.on("data", (sent) => {
    if (sent.includes(STATEMENT)) {
      client.write(bytes)
      then?.(client)
    } else upstream.write(sent)
  })
  client.on("close", () => upstream.destroy())
}
const close = (socket: Socket) => void socket.end()

/** Runs a statement on a separate connection. Returns its rows, or the code of the failure. */
const run = (address: string) =>
  Effect.runPromise(
    SqlClient.SqlClient.use((sql) => sql.unsafe(STATEMENT)).pipe(
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
      Effect.provide(databaseLayer({ database: databaseAt(address), applicationName: "test", maxConnections: 1 })),
    ),
  )
const at = (ports: number | ReadonlyArray<number>, parameters = "sslmode=disable&connect_timeout=60") =>
  `postgres://me:hunter2@${[ports].flat().map((port) => `127.0.0.1:${port}`)}/outreach?${parameters}`
/** URL of the test's database through a port, or behind other hosts. */
const through = (port: number) => `${Object.assign(new URL(url()), { port }).href}?sslmode=disable`
const behind = (...ports: ReadonlyArray<number>) => {
  const real = new URL(url())
  const hosts = [...ports, Number(real.port)].map((port) => `127.0.0.1:${port}`)
  return `postgres://${real.username}:${real.password}@${hosts}${real.pathname}?sslmode=disable&connect_timeout=2`
}

describe("a server that opens no session", () => {
  it.each<[what: string, code: string, behave: (socket: Socket) => void]>([
    ["closes at once", "ECONNRESET", close],
    ["refuses with an error after it let in", "53300", afterStartup(Buffer.concat([LET_IN, ERROR]))],
    ["refuses with an error that names no code", "DRIVER_FAILURE", afterStartup(message("E", "Mno\0\0"))],
    ["asks for a method that nobody knows", "AUTHENTICATION", afterStartup(message("R", "\0\0\0\x63"))],
    ["speaks another protocol", "EPROTO", afterStartup(Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"))],
    ["sends the head of a message of a gigabyte", "EPROTO", afterStartup(withLength("R", 0x3fff_ffff))],
  ])("and %s is reported as %s", async (_, code, behave) => {
    expect(await run(at(await server(behave)))).toBe(code)
  })

  it("is skipped for the next host after it has sent random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (garbage) => {
        // A rejection is final, as in libpq.
        fc.pre(garbage[0] !== "E".charCodeAt(0))
        const port = await server(afterStartup(garbage, close))
        expect(await run(behind(port))).toEqual([{ one: 1 }])
      }),
    )
  })
})

describe("a server that responds to the request for TLS", () => {
  const tls = "sslmode=require&connect_timeout=60"

  it.each<[what: string, code: string, behave: (socket: Socket) => void]>([
    ["with an error", "53300", afterStartup(ERROR)],
    ["with something else", "EPROTO", afterStartup(Buffer.from("H"))],
    ["with a refusal", "TLS_REFUSED", afterStartup(Buffer.from("N"))],
    ["by closing", "ECONNRESET", afterStartup(Buffer.alloc(0), close)],
    ["with consent, and closes", "ECONNRESET", afterStartup(Buffer.from("S"), close)],
  ])("%s, is reported as %s", async (_, code, behave) => {
    expect(await run(at(await server(behave), tls))).toBe(code)
  })

  it("with consent, but then doesn't use TLS, is reported with a TLS or protocol error", async () => {
    const port = await server(afterStartup(Buffer.from("S"), (socket) => afterStartup(SESSION)(socket)))
    expect(await run(at(port, tls))).toMatch(/^(?:ERR_SSL|EPROTO)/)
  })

  // Data injected before the encryption would be read as the server's (CVE-2021-23222).
  it.each(["SR\0\0\0\x08\0\0\0\0", "SS", "NR\0\0\0\x08\0\0\0\0"])(
    "with further bytes as in %j, is disconnected before anything else is sent",
    async (bytes) => {
      const sent: Array<Buffer> = []
      const port = await server((socket) => {
        afterStartup(Buffer.from(bytes))(socket)
        socket.on("data", (packet) => sent.push(packet))
      })
      for (const sslmode of ["prefer", "require"]) {
        expect(await run(at(port, `sslmode=${sslmode}&connect_timeout=60`))).toBe("EPROTO")
      }
      expect(Buffer.concat(sent).toString("hex")).toMatch(/^(?:0000000804d2162f)+$/)
    },
  )
})

describe("a server that goes silent", () => {
  // The tests run concurrently.
  it.concurrent.for<[what: string, behave: (socket: Socket) => void]>([
    ["after it accepted", () => {}],
    ["within a message", afterStartup(message("R", "\0\0\0\0").subarray(0, 6))],
    [
      "except for one byte after another",
      afterStartup(LET_IN, (socket) => {
        const drip = setInterval(() => socket.write("S".padEnd(1)), 50)
        socket.on("close", () => clearInterval(drip))
      }),
    ],
  ])("%s has had its time, which the next host then has", async ([, behave], test) => {
    expect(await run(behind(await server(behave, test)))).toEqual([{ one: 1 }])
  })

  it.concurrent.for<[what: string, parameters: string, behave: (socket: Socket) => void]>([
    ["after it accepted", "sslmode=disable&connect_timeout=1", () => {}],
    ["instead of answering the request for TLS", "sslmode=require&connect_timeout=1", () => {}],
    ["after its consent to TLS", "sslmode=require&connect_timeout=1", afterStartup(Buffer.from("S"))],
    [
      "but sends notices without end",
      "sslmode=disable&connect_timeout=1",
      afterStartup(LET_IN, (socket) => {
        const more = () => {
          while (socket.write(message("N", `SNOTICE\0C00000\0M${"x".repeat(20_000)}\0\0`))) {}
        }
        socket.on("drain", more).on("error", () => {})
        more()
      }),
    ],
  ])("%s is reported as ETIMEDOUT", async ([, parameters, behave], test) => {
    expect(await run(at(await server(behave, test), parameters))).toBe("ETIMEDOUT")
  })
})

const data = new URL("data/", import.meta.url)
const pem = (name: string) => readFileSync(new URL(`${name}.pem`, data))

const root = `&sslrootcert=${encodeURIComponent(fileURLToPath(new URL("authority.pem", data)))}`

it.each([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "leaf", ""],
  ["SELF_SIGNED_CERT_IN_CHAIN", "chain", ""],
  ["CERT_HAS_EXPIRED", "expired", root],
  ["CERT_NOT_YET_VALID", "notYetValid", root],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "otherHost", root],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "selfSigned", root],
])(
  "a certificate that is wrong is reported as %s, and the server is told nothing",
  async (code, certificate, trusted) => {
    let told = 0
    const port = await server((socket) =>
      afterStartup(Buffer.from("S"), () => {
        const secureContext = createSecureContext({ key: pem("key"), cert: pem(certificate) })
        new TLSSocket(socket, { isServer: true, secureContext })
          .on("error", () => {})
          .on("data", ({ length }) => {
            told += length
          })
      })(socket),
    )
    expect(await run(at(port, `sslmode=verify-full&connect_timeout=60${trusted}`))).toBe(code)
    expect(told).toBe(0)
  },
)

describe("a server in the middle of a statement", () => {
  it.each<[what: string, code: string, behave: (socket: Socket) => void]>([
    ["closes", "ECONNRESET", inStatement(Buffer.alloc(0), close)],
    ["sends a message of a negative length", "EPROTO", inStatement(withLength("D", -1))],
    ["sends a parameter that does not end", "EPROTO", inStatement(withLength("S", 0x3fff_ffff))],
    ["shuts down", "ECONNRESET", inStatement(message("E", "SFATAL\0C57P01\0Mterminating\0\0"), close)],
  ])("that %s is reported as %s", async (_, code, behave) => {
    expect(await run(through(await server(behave)))).toBe(code)
  })

  it("is reported with an error after it has sent random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (garbage) => {
        expect(await run(through(await server(inStatement(garbage, close))))).toMatch(/^[0-9A-Z_]{4,}$/)
      }),
    )
  })
})
