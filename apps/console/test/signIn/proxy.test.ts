import { createIdentifier } from "@outreach/domain/Identifier"
import { addOperator, createSignInLink, OperatorRepository } from "@outreach/domain/operators/Operators"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { ConsoleConfig } from "../../src/ConsoleConfig.ts"
import { startConsole } from "../startConsole.ts"

const trusted = startConsole({ CONSOLE_PROXY_HEADER: "X-Forwarded-User", TRUST_PROXY: "loopback" })
const untrusted = startConsole({ CONSOLE_PROXY_HEADER: "X-Forwarded-User", TRUST_PROXY: "192.0.2.1" })

const add = (name: string) => trusted().run(addOperator({ name, role: "admin", organizationId: null }))
/** The bytes of a name in UTF-8, as a proxy sends them. */
const utf8 = (name: string) => Buffer.from(name).toString("latin1")
const open = (headers: Readonly<Record<string, string>>, method = "GET", url = trusted().url) =>
  fetch(`${url}/`, { method, headers, redirect: "manual" })
const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0]
const sessionsOf = async (name: string) =>
  (await trusted().run(OperatorRepository.use(({ list }) => list))).find((operator) => operator.name === name)!.sessions

describe("a proxy that signs operators in", () => {
  it("starts a session for the operator that it names, and the cookie continues it", async () => {
    await add("Zoë Reyes")
    const first = await open({ "x-forwarded-user": utf8("Zoë Reyes") })
    expect(first.headers.get("set-cookie")).toMatch(/^session=[\w-]{43}; .*HttpOnly; SameSite=Strict/)
    expect(await first.text()).toContain("Zoë Reyes")
    const second = await open({ "x-forwarded-user": utf8("Zoë Reyes"), cookie: cookieOf(first)! })
    expect(cookieOf(second)).toBeUndefined()
    expect(await second.text()).toContain("Zoë Reyes")
    expect(await sessionsOf("Zoë Reyes")).toBe(1)
  })

  it("must name the operator in each request: a cookie is not enough", async () => {
    await add("Cookie")
    const cookie = cookieOf(await open({ "x-forwarded-user": "Cookie" }))!
    const response = await open({ cookie })
    expect(response.status).toBe(403)
    expect(await response.text()).not.toContain("Cookie<")
  })

  it("determines the operator, regardless of the browser's session", async () => {
    await Promise.all([add("Ada"), add("Grace")])
    const ada = cookieOf(await open({ "x-forwarded-user": "Ada" }))!
    const asGrace = await open({ "x-forwarded-user": "Grace", cookie: ada })
    expect(await asGrace.text()).toContain("Grace")
    expect(cookieOf(asGrace)).toMatch(/^session=/)
    expect(cookieOf(asGrace)).not.toBe(ada)
    const signOut = await fetch(`${trusted().url}/sign-out`, {
      method: "POST",
      headers: { "x-forwarded-user": "Grace", cookie: ada, origin: trusted().url },
      body: new URLSearchParams(),
      redirect: "manual",
    })
    expect(signOut.status).toBe(303)
    expect(await sessionsOf("Ada")).toBe(1)
  })

  it("lets in a partner to the view of its organization", async () => {
    const organization = await trusted().run(
      OrganizationRepository.use(({ create }) =>
        Effect.flatMap(createIdentifier("organization"), (id) => create(id, "Acme")),
      ),
    )
    await trusted().run(addOperator({ name: "Sam", role: "partner", organizationId: organization.id }))
    const response = await open({ "x-forwarded-user": "Sam" })
    expect(response.headers.get("location")).toBe(`/partners/${organization.id}`)
    expect(cookieOf(response)).toMatch(/^session=/)
  })

  it("signs no one in if the name is missing or not an operator's", async () => {
    for (const headers of [{}, { "x-forwarded-user": "" }, { "x-forwarded-user": "Nobody" }]) {
      const response = await open(headers as Readonly<Record<string, string>>)
      expect({ status: response.status, cookie: cookieOf(response) }).toEqual({ status: 403, cookie: undefined })
    }
  })

  it("makes sign-in links useless", async () => {
    const operator = await add("Linked")
    const { token } = await trusted().run(createSignInLink(operator.id, { seconds: 3600, once: false }))
    const response = await fetch(`${trusted().url}/sign-in/${Redacted.value(token)}`, { redirect: "manual" })
    expect({ status: response.status, cookie: cookieOf(response) }).toEqual({ status: 410, cookie: undefined })
  })
})

it("trusts the header only from the proxy's connection, regardless of X-Forwarded-For", async () => {
  await untrusted().run(addOperator({ name: "Ada", role: "admin", organizationId: null }))
  const headers = { "x-forwarded-user": "Ada", "x-forwarded-for": "192.0.2.1" }
  const response = await open(headers, "GET", untrusted().url)
  expect({ status: response.status, cookie: cookieOf(response) }).toEqual({ status: 403, cookie: undefined })
})

it("does not start with a proxy header but without trusted proxies", async () => {
  const env = {
    DATABASE_URL: "postgres://localhost/",
    SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
    CONSOLE_PROXY_HEADER: "X-Forwarded-User",
  }
  const reading = Effect.scoped(Layer.build(ConsoleConfig.fromEnvironment)).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
  )
  expect(String(await Effect.runPromise(Effect.flip(reading)))).toContain("TRUST_PROXY")
})
