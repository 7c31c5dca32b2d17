import { request } from "node:http"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { isLinkDomainProof, LINK_DOMAIN_PROOF_PATH } from "@outreach/domain/senders/linkDomainProof"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const OWN_HOST = "api.outreach.test"
const api = startApi(undefined, { PUBLIC_BASE_URL: `https://${OWN_HOST}` })

const add = (organizationId: OrganizationId, domain: string, state: "verified" | "verifying" | "named") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      insert into link_domains (organization_id, domain, verified_at, verifying_until)
      values (${organizationId}, ${domain}, case when ${state} = 'verified' then clock_timestamp() end,
        case when ${state} = 'verifying' then clock_timestamp() + interval '1 hour' end)`,
  )

type Seeded = Effect.Success<ReturnType<typeof seedMessages>>
let one: Seeded
let other: Seeded
beforeAll(async () => {
  one = await api().run(seedMessages(1))
  other = await api().run(seedMessages(1))
  await api().run(
    Effect.all([
      add(one.organization.id, "click.one.test", "verified"),
      add(one.organization.id, "being.one.test", "verifying"),
      add(one.organization.id, "named.one.test", "named"),
      add(one.organization.id, OWN_HOST, "verified"),
    ]),
  )
  expect(await mayBeCertified("click.one.test")).toBe(200)
})

/** Asks as a proxy does that passes the name on. */
const ask = (host: string, path: string, method = "GET") =>
  new Promise<{ status: number; type: string; location: string | undefined; body: string }>((resolve, reject) => {
    const asked = request(api().url, { path, method, headers: { Host: host } }, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString()
      const { "content-type": type = "", location } = response.headers
      resolve({ status: response.statusCode!, type, location, body })
    })
    asked.on("error", reject).end()
  })

const mayBeCertified = async (domain: string) =>
  (await fetch(`${await api().adminUrl()}/link-domain?domain=${encodeURIComponent(domain)}`)).status

const click = ({ addressees }: Seeded) => links.click(addressees[0]!, "https://clinic.test/study")!

const unsubscribed = ({ addressees }: Seeded) =>
  api().run(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ count: number }>`
        select count(*)::int as count from unsubscriptions where recipient_id = ${addressees[0]!.recipientId}`,
    ),
  )

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

  it("does not lend its name to the links of another organization, which are served everywhere else", async () => {
    expect(await ask("click.one.test", click(other))).toMatchObject({ status: 404 })
    const page = links.unsubscribe(other.addressees[0]!)
    expect(await ask("click.one.test", page)).toMatchObject({ status: 404 })
    expect(await ask("click.one.test", page, "POST")).toMatchObject({ status: 404 })
    expect(await unsubscribed(other)).toEqual([{ count: 0 }])
    // A proxy may write a name of its own.
    for (const host of [OWN_HOST, "backend:8080", "named.one.test", "10.0.0.1", ""]) {
      expect(await ask(host, click(other))).toMatchObject({ status: 302 })
    }
  })

  it("takes an unsubscription by one click", async () => {
    expect(await ask("click.one.test", links.unsubscribe(one.addressees[0]!), "POST")).toMatchObject({ status: 200 })
    expect(await unsubscribed(one)).toEqual([{ count: 1 }])
  })

  it("never takes the place of the deployment's own host", async () => {
    expect(await ask(OWN_HOST, "/v1/health")).toMatchObject({ status: 200, type: "application/json" })
    expect(await mayBeCertified(OWN_HOST)).toBe(404)
  })

  it("serves its links while the database does not say which domains there are", async () => {
    await api().run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const locked = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const holding = sql`lock table link_domains in access exclusive mode`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(done)),
          sql.withTransaction,
        )
        const working = Deferred.await(locked).pipe(
          Effect.andThen(
            Effect.promise(async () => {
              expect(await ask("click.one.test", click(one))).toMatchObject({ status: 302 })
              expect(await ask("click.one.test", "/v1/health")).toMatchObject({ status: 404 })
              expect(await mayBeCertified("click.one.test")).toBe(200)
            }),
          ),
          Effect.ensuring(Deferred.succeed(done, undefined)),
        )
        yield* Effect.all([holding, working], { concurrency: "unbounded" })
      }),
    )
  })
})

describe("a proxy may get a certificate", () => {
  it("for a domain that is verified or being verified, in any spelling of the name, and for no other", async () => {
    const names = {
      ...{ "click.one.test": 200, "Click.One.Test.": 200, "being.one.test": 200 },
      ...{ "named.one.test": 404, "unknown.test": 404, "one.test": 404, "a.click.one.test": 404, "": 404, "a b": 404 },
      ...{ "127.0.0.1": 404, [`${"a".repeat(300)}.test`]: 404 },
    }
    const given = await Promise.all(Object.keys(names).map(async (name) => [name, await mayBeCertified(name)] as const))
    expect(Object.fromEntries(given)).toEqual(names)
    expect((await fetch(`${await api().adminUrl()}/link-domain`)).status).toBe(404)
    // Strangers reach this port, and may not ask.
    expect(await ask(OWN_HOST, "/link-domain?domain=click.one.test")).toMatchObject({ status: 404 })
  })

  it("as soon as its verification begins, and no longer once it is removed", async () => {
    expect(await mayBeCertified("new.other.test")).toBe(404)
    await api().run(add(other.organization.id, "new.other.test", "verifying"))
    expect(await mayBeCertified("new.other.test")).toBe(200)
    await api().run(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from link_domains where domain = 'new.other.test'`),
    )
    // A name that is not known has the domains read again.
    expect(await mayBeCertified("unknown.test")).toBe(404)
    expect(await mayBeCertified("new.other.test")).toBe(404)
  })
})

describe("the proof of a link domain", () => {
  it("is good for the host and the challenge of the request alone, and made for every host", async () => {
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
})
