import { connect } from "node:net"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { RELEASE } from "@outreach/process/release"
import { CLOSED_PORT } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { eventually, until } from "@outreach/testing/until"
import { describe, expect, it, onTestFinished } from "vitest"
import { runApi } from "./runApi.ts"
import { startApi } from "./startApi.ts"
import { startApiProcess } from "./startApiProcess.ts"

const api = startApi()

/** Requests the health of an API over a new connection. */
const statusFrom = (host: string, port: number): Promise<"refused" | "answered" | "closed without an answer"> =>
  new Promise((resolve) => {
    const socket = connect({ port, host })
    socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let received = ""
    socket
      .setEncoding("latin1")
      .on("data", (chunk: string) => {
        received += chunk
      })
      .on("error", (error: NodeJS.ErrnoException) => error.code === "ECONNREFUSED" && resolve("refused"))
      .on("close", () => resolve(received.startsWith("HTTP/1.1 200 ") ? "answered" : "closed without an answer"))
  })

it("the API's process responds to every accepted connection during startup, logs its address, and serves", async () => {
  const [host, port] = [loopbackAddress(), 8080]
  const process = startApiProcess(api().databaseUrl, { HOST: host, PORT: String(port) })
  const first = await eventually(
    () => statusFrom(host, port),
    (status) => status !== "refused" || process.over() !== undefined,
  )
  const others = await Promise.all(Array.from({ length: 50 }, () => statusFrom(host, port)))
  expect(new Set([first, ...others])).toEqual(new Set(["answered"]))

  const url = `http://${host}:${port}`
  expect((await until(process, "listening")).annotations).toMatchObject({ url, port })
  const response = await fetch(`${url}/v1/health`)
  expect([response.status, ((await response.json()) as { version: string }).version]).toEqual([200, RELEASE])
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
})

describe("the API", () => {
  it.each([
    ["3D000", { pathname: "/hunter2" }],
    ["28P01", { password: "hunter2" }],
    ["ECONNREFUSED", { port: String(CLOSED_PORT) }],
    ["ENOTFOUND", { hostname: "nowhere.invalid" }],
  ])("serves without its database, is not ready and logs one line: %s", async (code, change) => {
    const address = Object.assign(new URL(api().databaseUrl), change)
    const { url, adminUrl, log, stop } = await runApi(api().databaseUrl, { DATABASE_URL: address.href })
    onTestFinished(stop)
    const { annotations } = await until(log, "database unusable")
    expect(annotations["code"]).toBe(code)
    const [ready, alive] = [await fetch(`${url}/readyz`), await fetch(`${url}/livez`)]
    expect([ready.status, await ready.json(), alive.status]).toMatchObject([503, { status: "unavailable", code }, 200])
    expect((await fetch(`${url}/v1/partners/consumer/webhooks/whe_0`, { method: "POST", body: "{}" })).status).toBe(503)
    const ofOperators = await fetch(`${await adminUrl()}/readyz`)
    expect([ofOperators.status, await ofOperators.text()]).toEqual([503, expect.stringContaining(`(${code})`)])
    expect(log.lines.filter(({ level }) => level === "ERROR")).toHaveLength(1)
    expect(JSON.stringify(annotations)).not.toMatch(/hunter2|nowhere|127\.0\.0\.1/)
  })

  /** Returns the error message with which the API doesn't start. */
  const refusal = async (settings: Readonly<Record<string, string>>): Promise<string> => {
    const error = await runApi(api().databaseUrl, settings).then(
      () => expect.unreachable(),
      (error: Error) => error,
    )
    return ((error.cause as Error | undefined) ?? error).message
  }

  it.each([
    ["DATABASE_URL", ""],
    ["CURSOR_KEY", ""],
    ["PORT", "65536"],
    ["ADMIN_PORT", "65536"],
    ["HOST", "a b"],
    ["DOCS_URL", "ftp://docs.outreach.test"],
    ["LOG_LEVEL", "loud"],
    ["TRUST_PROXY", "everybody"],
    ["UNAUTHENTICATED_LIMIT", "many"],
    ["SHUTDOWN_DELAY_SECONDS", "-1"],
  ])("does not start if %s is %j", async (name, value) => {
    const sentence = await refusal({ [name]: value })
    expect(sentence).toMatch(new RegExp(`^${name} is (?:malformed|not set)\\. It must be .+\\.$`))
    if (value !== "") expect(sentence).not.toContain(value)
  })

  it("does not start if its port is taken, or if SECRETS_KEY doesn't open a stored secret", async () => {
    expect(await refusal({ PORT: new URL(api().url).port })).toMatch(/set PORT to another port\.$/)
    const { organization } = await api().seed(0)
    await api().run(rotateSecret(organization.id, 0))
    const SECRETS_KEY = Buffer.alloc(32, 9).toString("base64")
    expect(await refusal({ SECRETS_KEY })).toMatch(/^SECRETS_KEY does not decrypt the stored signing secrets;/)
  })
})
