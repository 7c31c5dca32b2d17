import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { routes } from "../../src/routes.ts"
import { startConsole } from "../startConsole.ts"

const test = startConsole({ CONSOLE_URL: "https://console.acme.example" })
const proxied = startConsole({ CONSOLE_PROXY_HEADER: "X-Forwarded-User", TRUST_PROXY: "loopback" })

/** Sends a request as it stands, because clients repair what they send. */
const sendRaw = async (line: string, headers: ReadonlyArray<string>, url = test().url) => {
  const socket = connect(Number(new URL(url).port), new URL(url).hostname)
  await once(socket, "connect")
  socket.write([`${line} HTTP/1.1`, ...headers, "Connection: close", "", ""].join("\r\n"))
  const answer = await text(socket)
  return { status: Number(answer.split(" ")[1]), answer, headOf: answer.split("\r\n\r\n")[0]! }
}

const host = (url = test().url) => `Host: ${new URL(url).host}`

/** The session's cookie under the name that it has over TLS. */
const signedIn = async () => `Cookie: __Host-${(await test().as("admin")).cookie}`

describe("an address that leads elsewhere", () => {
  it.each([
    "//evil.example/x",
    "/\\evil.example/x",
    "///evil.example",
    "/\\\\evil.example",
    "https://evil.example/x",
    "https://x//evil.example/y",
  ])("%s is led to by no answer, signed in or not, from here or from another site", async (address) => {
    for (const session of [[], [await signedIn()]]) {
      for (const site of ["cross-site", "same-origin", "none"]) {
        const { status, answer } = await sendRaw(`GET ${address}`, [host(), `Sec-Fetch-Site: ${site}`, ...session])
        expect({ site, status }).toEqual({ site, status: 404 })
        expect(answer).not.toContain("evil.example")
        expect(answer).not.toMatch(/^(?:location|refresh):/im)
      }
    }
  })

  it("does not keep a link from another site from opening a page", async () => {
    const { status, headOf } = await sendRaw("GET /campaigns?status=paused", [host(), "Sec-Fetch-Site: cross-site"])
    expect(status).toBe(200)
    expect(headOf).toMatch(/^refresh: 0; url=\/campaigns\?status=paused$/im)
  })
})

describe("a request that two programs could read differently", () => {
  it.each([
    "Authorization: Bearer a",
    "Host: 127.0.0.1",
    "Origin: https://console.acme.example",
    "Content-Type: text/plain",
    "Cookie: a=b",
  ])("is refused: %s twice", async (header) => {
    const more = header.startsWith("Host") ? [] : [header]
    const { status, answer } = await sendRaw("GET /sign-in", [host(), ...more, header])
    expect(status).toBe(400)
    expect(answer).toContain(`The header ${header.split(":")[0]!.toLowerCase()} was given more than once`)
  })

  it("is refused with two sessions, whichever of them is valid", async () => {
    const session = await signedIn()
    for (const cookies of [`${session}; __Host-session=other`, `Cookie: __Host-session=other; ${session.slice(8)}`]) {
      const { status, answer } = await sendRaw("GET /", [host(), cookies])
      expect(status).toBe(400)
      expect(answer).toContain("two sessions")
    }
    expect((await sendRaw("GET /", [host(), session])).status).toBe(200)
  })

  it("is refused with two names of an operator", async () => {
    const url = proxied().url
    const { status } = await sendRaw("GET /", [host(url), "X-Forwarded-User: Ada", "X-Forwarded-User: Eve"], url)
    expect(status).toBe(400)
  })

  it("is taken with one Authorization header, which the console does not read", async () => {
    expect((await sendRaw("GET /sign-in", [host(), "Authorization: Basic eDp5"])).status).toBe(200)
  })
})

describe("the Host of a request", () => {
  it.each([
    "evil.example",
    "console.acme.example.evil.example",
    "evil.example:8090",
    "evil@127.0.0.1",
    "127.0.0.1.evil.example",
    "127.0.0.1/x",
    "",
    "a b",
  ])("is refused if it is of another site: %j", async (name) => {
    const { status, answer } = await sendRaw("GET /sign-in", [`Host: ${name}`])
    expect(status).toBe(421)
    expect(answer).toContain("CONSOLE_URL")
  })

  it.each([
    "console.acme.example",
    "CONSOLE.acme.example:443",
    "127.0.0.1:9000",
    "192.0.2.7",
    "[::1]:8090",
    "localhost:8090",
  ])("is that of CONSOLE_URL, an IP address or localhost: %j", async (name) =>
    expect((await sendRaw("GET /sign-in", [`Host: ${name}`])).status).toBe(200),
  )
})

describe("a method that an address does not have", () => {
  const example = (path: string) => path.replaceAll(/:\w+/g, "x")
  const methodsOf = (path: string) =>
    routes
      .filter((each) => example(each.path) === example(path))
      .flatMap(({ kind }) => (kind === "action" ? ["POST"] : ["GET", "HEAD"]))

  it.each([...new Set([...routes.map(({ path }) => path), "/sign-in", "/sign-out"])])(
    "of %s is answered 405 with those it has",
    async (path) => {
      const expected = path === "/sign-in" ? ["GET", "HEAD"] : path === "/sign-out" ? ["POST"] : methodsOf(path)
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
        (each) => !expected.includes(each),
      )) {
        const response = await fetch(`${test().url}${example(path)}`, { method, redirect: "manual" })
        expect({ method, status: response.status }).toEqual({ method, status: 405 })
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(expected.toSorted())
        expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
        expect(await response.text()).toContain("Not this way")
      }
    },
  )

  it("is not known of an address of nothing", async () => {
    expect((await fetch(`${test().url}/nothing`, { method: "DELETE" })).status).toBe(404)
  })
})
