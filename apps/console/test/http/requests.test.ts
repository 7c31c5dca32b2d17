import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { routes } from "../../src/routes.ts"
import { startConsole } from "../startConsole.ts"

const test = startConsole({ CONSOLE_URL: "https://console.acme.example" })
const proxied = startConsole({ CONSOLE_PROXY_HEADER: "X-Forwarded-User", TRUST_PROXY: "loopback" })

/** Sends a request unchanged, because clients would repair it. */
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

describe("an address of another origin", () => {
  it.each([
    ...["//evil.example/x", "/\\evil.example/x", "///evil.example", "/\\\\evil.example", "https://evil.example/x"],
    "https://x//evil.example/y",
  ])("%s is not redirected to, signed in or not, from here or from another site", async (address) => {
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
    ...["Authorization: Bearer a", "Host: 127.0.0.1", "Origin: https://console.acme.example"],
    ...["Content-Type: text/plain", "Cookie: a=b"],
  ])("is rejected: %s twice", async (header) => {
    const more = header.startsWith("Host") ? [] : [header]
    const { status, answer } = await sendRaw("GET /sign-in", [host(), ...more, header])
    expect(status).toBe(400)
    expect(answer).toContain(`the header ${header.split(":")[0]!.toLowerCase()} more than once`)
  })

  it("is rejected with two sessions, whichever of them is valid", async () => {
    const session = await signedIn()
    for (const cookies of [`${session}; __Host-session=other`, `Cookie: __Host-session=other; ${session.slice(8)}`]) {
      const { status, answer } = await sendRaw("GET /", [host(), cookies])
      expect(status).toBe(400)
      expect(answer).toContain("two session cookies")
    }
    expect((await sendRaw("GET /", [host(), session])).status).toBe(200)
  })

  it("is rejected with two names of an operator", async () => {
    const url = proxied().url
    const { status } = await sendRaw("GET /", [host(url), "X-Forwarded-User: Ada", "X-Forwarded-User: Eve"], url)
    expect(status).toBe(400)
  })

  it("is accepted with one Authorization header, which the console doesn't read", async () => {
    expect((await sendRaw("GET /sign-in", [host(), "Authorization: Basic eDp5"])).status).toBe(200)
  })
})

describe("the Host of a request", () => {
  it.each([
    ...["evil.example", "console.acme.example.evil.example", "evil.example:8090", "evil@127.0.0.1"],
    ...["127.0.0.1.evil.example", "127.0.0.1/x", "", "a b"],
  ])("is rejected if it is of another site: %j", async (name) => {
    const { status, answer } = await sendRaw("GET /sign-in", [`Host: ${name}`])
    expect(status).toBe(421)
    expect(answer).toContain("CONSOLE_URL")
  })

  it.each([
    ...["console.acme.example", "CONSOLE.acme.example:443", "127.0.0.1:9000", "192.0.2.7", "[::1]:8090"],
    "localhost:8090",
  ])("is that of CONSOLE_URL, an IP address or localhost: %j", async (name) =>
    expect((await sendRaw("GET /sign-in", [`Host: ${name}`])).status).toBe(200),
  )
})

it("returns 405 with the methods of an address for every other method", async () => {
  const example = (path: string) => path.replaceAll(/:\w+/g, "x")
  const methodsOf: Record<string, Array<string>> = { "/sign-in": ["GET", "HEAD"], "/sign-out": ["POST"] }
  for (const { path, kind } of routes) {
    const methods = kind === "action" ? ["POST"] : ["GET", "HEAD"]
    methodsOf[example(path)] = [...(methodsOf[example(path)] ?? []), ...methods]
  }
  for (const [path, expected] of Object.entries(methodsOf)) {
    const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((each) => !expected.includes(each))
    for (const method of others) {
      const response = await fetch(`${test().url}${path}`, { method, redirect: "manual" })
      const allow = response.headers.get("allow")?.split(", ").sort()
      expect({ path, method, status: response.status, allow }).toEqual({
        ...{ path, method, status: 405 },
        allow: expected.toSorted(),
      })
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
    }
  }
  expect((await fetch(`${test().url}/nothing`, { method: "DELETE" })).status).toBe(404)
})
