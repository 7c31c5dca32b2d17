import { setImmediate } from "node:timers/promises"
import { isLinkDomainProof, LINK_DOMAIN_PROOF_PATH, TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { sql } from "@outreach/testing/sql"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { ApiConfig } from "../../src/ApiConfig.ts"
import { LinkDomains } from "../../src/tracking/LinkDomains.ts"
import { send } from "../ask.ts"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const OWN_HOST = "api.outreach.test"

const add = (organizationId: OrganizationId, domain: string, state: "verified" | "verifying" | "named") =>
  sql`
    insert into link_domains (organization_id, domain, verified_at, verifying_until)
    values (${organizationId}, ${domain}, case when ${state} = 'verified' then clock_timestamp() end,
      case when ${state} = 'verifying' then clock_timestamp() + interval '1 hour' end)`

type Seeded = Effect.Success<ReturnType<typeof seedMessages>>
let one: Seeded
let other: Seeded
const seed = Effect.gen(function* () {
  one = yield* seedMessages(2)
  other = yield* seedMessages(1)
  yield* add(one.organization.id, "click.one.test", "verified")
  yield* add(one.organization.id, "being.one.test", "verifying")
  yield* add(one.organization.id, "named.one.test", "named")
  yield* add(one.organization.id, OWN_HOST, "verified")
})
const api = startApi(seed, { PUBLIC_BASE_URL: `https://${OWN_HOST}` })

/** Sends a request like a proxy that passes on the host name. */
const ask = async (host: string, path: string, method = "GET") => {
  const { status, headers, body } = await send(api(), path, { method, headers: { Host: host } })
  return { status, type: headers.get("content-type"), location: headers.get("location"), body: body.toString() }
}

const mayBeCertified = async (domain: string) =>
  (await fetch(`${await api().adminUrl()}/link-domain?domain=${encodeURIComponent(domain)}`)).status

const click = ({ addressees }: Seeded) => links.click(addressees[0]!, "https://clinic.test/study")!

const unsubscribed = ({ recipientId }: Seeded["addressees"][number]) =>
  api().run(sql<{ count: number }>`
    select count(*)::int as count from unsubscriptions where recipient_id = ${recipientId}`)

describe("a link domain", () => {
  it.each(["click.one.test", "CLICK.one.test", "click.one.test:8443", "click.one.test.", "click.one.test.:443"])(
    "serves the links of its organization under the host %s",
    async (host) => {
      expect(await ask(host, click(one))).toMatchObject({ status: 302, location: "https://clinic.test/study" })
      expect(await ask(host, links.open(one.addressees[0]!))).toMatchObject({ status: 200, type: "image/gif" })
      const page = await ask(host, links.unsubscribe(one.addressees[0]!))
      expect([page.status, page.body.includes("Unsubscribe?")]).toEqual([200, true])
    },
  )

  it.each([
    ["GET", "/"],
    ["GET", "/v1/health"],
    ["GET", "/v1/partners/outreach/events"],
    ["POST", "/v1/partners/consumer/webhooks/whe_00000000000000000000000000000000"],
    ["GET", "/docs"],
    ["GET", "/livez"],
    ["GET", "/readyz"],
    ["GET", "/metrics"],
    ["OPTIONS", "/v1/health"],
    ["OPTIONS", "*"],
    ["GET", "//l/x"],
    ["GET", "/L/x"],
  ])("serves nothing else: %s %s", async (method, path) => {
    const { status, type, body } = await ask("click.one.test", path, method)
    expect([status, type]).toEqual([404, "text/html; charset=utf-8"])
    expect(body).not.toMatch(/api|docs|partner/i)
  })

  it("doesn't serve the links of another organization, which work on every other host", async () => {
    expect(await ask("click.one.test", click(other))).toMatchObject({ status: 404 })
    const page = links.unsubscribe(other.addressees[0]!)
    expect(await ask("click.one.test", page)).toMatchObject({ status: 404 })
    expect(await ask("click.one.test", page, "POST")).toMatchObject({ status: 404 })
    expect(await unsubscribed(other.addressees[0]!)).toEqual([{ count: 0 }])
    // A proxy may use another name.
    for (const host of [OWN_HOST, "backend:8080", "named.one.test", "10.0.0.1", ""]) {
      expect(await ask(host, click(other))).toMatchObject({ status: 302 })
    }
  })

  it("takes an unsubscription by one click", async () => {
    const page = links.unsubscribe(one.addressees[1]!)
    expect(await ask("click.one.test", page, "POST")).toMatchObject({ status: 200 })
    expect(await unsubscribed(one.addressees[1]!)).toEqual([{ count: 1 }])
  })

  it("never replaces the deployment's own host", async () => {
    expect(await ask(OWN_HOST, "/v1/health")).toMatchObject({ status: 200, type: "application/json" })
  })

  it("is known when the API starts to serve", () =>
    Effect.gen(function* () {
      const served = Effect.as(
        Effect.promise(() => setImmediate()),
        [{ domain: "click.one.test", organizationId: one.organization.id }],
      )
      const { isLinkDomain } = yield* LinkDomains.make.pipe(
        Effect.provideService(LinkDomainRepository, { readServed: () => served } as never),
        Effect.provideService(ApiConfig, { publicBaseUrl: `https://${OWN_HOST}` } as typeof ApiConfig.Service),
      )
      expect(isLinkDomain("click.one.test")).toBe(true)
    }).pipe(Effect.scoped, Effect.runPromise))

  it("serves its links while the database can't return the list of domains", async () => {
    await api().whileLocked("link_domains", async () => {
      expect(await ask("click.one.test", click(one))).toMatchObject({ status: 302 })
      expect(await ask("click.one.test", "/v1/health")).toMatchObject({ status: 404 })
      expect(await mayBeCertified("click.one.test")).toBe(200)
    })
  })
})

describe("a proxy may get a certificate", () => {
  it("for domains that are verified or being verified, through the admin port only", async () => {
    const names = ["click.one.test", "being.one.test", "", "a b"]
    expect(await Promise.all(names.map(mayBeCertified))).toEqual([200, 200, 404, 404])
    expect((await fetch(`${await api().adminUrl()}/link-domain`)).status).toBe(404)
    // Strangers can reach the public port.
    expect(await ask(OWN_HOST, "/link-domain?domain=click.one.test")).toMatchObject({ status: 404 })
  })

  it("for a domain in any spelling of its name, as soon as its verification starts and until it is removed", () =>
    Effect.gen(function* () {
      const served = new Set([OWN_HOST, "click.one.test"])
      let reads = 0
      const readServed = () =>
        Effect.sync(() => {
          reads++
          return [...served].map((domain) => ({ domain, organizationId: one.organization.id }))
        })
      const { mayBeCertified } = yield* LinkDomains.make.pipe(
        Effect.provideService(LinkDomainRepository, { readServed } as never),
        Effect.provideService(ApiConfig, { publicBaseUrl: `https://${OWN_HOST}` } as typeof ApiConfig.Service),
      )
      yield* TestClock.adjust("1 second")
      // The domains are read again for unknown names, at most once a second: for the first, and then for the others.
      const asked = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
        const fiber = yield* Effect.forkChild(Effect.all(names.map(mayBeCertified), { concurrency: "unbounded" }))
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        return yield* Fiber.join(fiber)
      })
      const known = ["click.one.test", "Click.One.Test.", "click.one.test:443"]
      expect(yield* asked(...known)).toEqual(known.map(() => true))
      const unknown = [OWN_HOST, "one.test", "a.click.one.test", "127.0.0.1", `${"a".repeat(300)}.test`]
      const before = reads
      expect(yield* asked(...unknown)).toEqual(unknown.map(() => false))
      expect(reads - before).toBeLessThan(unknown.length)
      served.add("new.other.test")
      expect(yield* asked("new.other.test")).toEqual([true])
      served.delete("new.other.test")
      expect(yield* asked("unknown.test")).toEqual([false])
      expect(yield* asked("new.other.test")).toEqual([false])
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise))
})

it("the proof of a link domain is created for any host, and valid only for the host and the challenge of the request", async () => {
  const challenge = "c".repeat(32)
  const { status, body: proof } = await ask("New.One.Test:8443", LINK_DOMAIN_PROOF_PATH + challenge)
  expect(status).toBe(200)
  const seal = await api().run(Effect.provide(TrackingSeal, NodeTrackingSeal(SECRETS_RING)))
  const isProof = (domain: string, asked: string) => isLinkDomainProof(seal, proof, { domain, challenge: asked })
  expect(isProof("new.one.test", challenge)).toBe(true)
  expect(isProof("old.one.test", challenge)).toBe(false)
  expect(isProof("new.one.test", "d".repeat(32))).toBe(false)
  for (const bad of ["", "short", "a".repeat(65), "a/b", `${"a".repeat(32)}?x`, "%63".repeat(10)]) {
    expect(await ask("new.one.test", LINK_DOMAIN_PROOF_PATH + bad)).toMatchObject({ status: 404 })
  }
})
