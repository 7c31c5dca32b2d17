import { mkdtempSync, readFileSync } from "node:fs"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import tls from "node:tls"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { LINK_DOMAIN_PROOF_PATH, proveLinkDomain } from "@outreach/domain/senders/linkDomainProof"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { singleKey } from "@outreach/process/keyRing"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { dnsServer } from "@outreach/testing/dnsServer"
import { listen } from "@outreach/testing/listen"
import { reservePort } from "@outreach/testing/reservePort"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import type { Answer } from "dns-packet"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const DOMAIN = "click.acme.test"
const HOST = "api.outreach.test"
const data = (name: string) => readFileSync(new URL(`data/${name}`, import.meta.url), "utf8")

const sealOf = (ring: Parameters<typeof NodeTrackingSeal>[0]) =>
  Effect.runSync(Effect.provide(TrackingSeal, NodeTrackingSeal(ring)))
const own = sealOf(SECRETS_RING)
const foreign = sealOf(singleKey(Redacted.make(Buffer.alloc(32, 8))))

/** What the other end of the link domain does with a challenge. */
let answer: (challenge: string) => { readonly status: number; readonly body: string }
let port: number
const trusted = tls.getCACertificates("default")
beforeAll(async () => {
  tls.setDefaultCACertificates([...trusted, data("authority.pem")])
  const pem = data("click.acme.test.pem")
  const server = createServer({ cert: pem, key: pem }, ({ url, headers }, response) => {
    expect(headers.host).toBe(`${DOMAIN}:${port}`)
    const { status, body } = answer(url!.slice(LINK_DOMAIN_PROOF_PATH.length))
    response.writeHead(status, { Location: "https://api.outreach.test/" }).end(body)
  })
  port = await listen(server, afterAll)
})
afterAll(() => tls.setDefaultCACertificates(trusted))

beforeEach(async () => {
  answer = (challenge) => ({ status: 200, body: proveLinkDomain(own, DOMAIN, challenge) })
  await meanwhile(SqlClient.SqlClient.use((sql) => sql`truncate organizations, webhook_endpoints cascade`))
})

const settings = () => ({
  PUBLIC_BASE_URL: `https://${HOST}:${port}`,
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  MAIL_FROM: "outreach@deployment.test",
})

/** Runs a command line with `--output json`, and returns its value or its error. */
const ops = async (args: ReadonlyArray<string>, changed: Readonly<Record<string, string>> = {}) => {
  const { stdout, stderr } = await run([...args, "--output", "json"], { ...settings(), ...changed })
  expect(stderr).toBe("")
  const value = JSON.parse(stdout)
  return value.error ?? value
}

const add = async (...args: ReadonlyArray<string>) => {
  const { organization, campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
  const ofOrganization = ["--organization", organization.id, "--from", "Acme Health <outreach@acme.test>"]
  return { organization, campaign, sender: await ops(["senders", "create", ...ofOrganization, ...args]) }
}

interface DnsRecord {
  readonly name: string
  readonly type: "TXT" | "MX" | "CNAME"
  readonly values: ReadonlyArray<string>
}

/** Publishes a sender's records. A resolver gives the address of a name to which a CNAME record leads. */
const publish = (records: ReadonlyArray<DnsRecord>, cname = `${HOST}.`) =>
  dnsServer([
    ...records.flatMap(({ name, type, values }): ReadonlyArray<Answer> => {
      if (type === "MX") return []
      if (type === "TXT") return [{ type, name, data: values.map((value) => value.replace(/<.*>/, "mailto.test")) }]
      return cname === "" ? [] : [{ type, name, data: cname.slice(0, -1) }]
    }),
    { type: "CNAME", name: "alias.acme.test", data: "API.outreach.test" },
    { type: "CNAME", name: "circle.acme.test", data: "circle.acme.test" },
    { type: "A", name: DOMAIN, data: "127.0.0.1" },
  ])

const verify = async (id: string, dns: string, changed?: Readonly<Record<string, string>>) =>
  ops(["senders", "verify", id, "--dns-server", dns], changed)

const linkBaseOf = async (campaignId: string) => {
  const out = mkdtempSync(join(tmpdir(), "outreach-"))
  const { eml } = await ops(["campaigns", "preview", campaignId, "--out", out])
  return /List-Unsubscribe:[^\n]*?<(https:[^>]+)\/unsubscribe\//.exec(
    readFileSync(eml, "utf8").replaceAll(/\r\n\s/g, ""),
  )?.[1]
}

describe("a link domain", () => {
  it("is printed as a CNAME record, and holds links once it is verified", async () => {
    const { sender, campaign, organization } = await add("--link-domain", DOMAIN)
    expect(sender).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: null })
    expect(sender.dns_records).toContainEqual({ name: DOMAIN, type: "CNAME", values: [`${HOST}.`] })
    expect((await run(["senders", "show", sender.id], settings())).stdout).toContain(`${DOMAIN}. IN CNAME ${HOST}.\n`)
    const without = await run(["senders", "show", sender.id])
    expect(without.stdout).toContain(`${DOMAIN}. IN CNAME <host of PUBLIC_BASE_URL>.`)
    await meanwhile(SqlClient.SqlClient.use((sql) => sql`update senders set live_since = clock_timestamp()`))
    expect(await linkBaseOf(campaign.id)).toBe(`https://${HOST}:${port}`)

    const dns = await publish(sender.dns_records)
    const verified = await verify(sender.id, dns)
    expect(verified).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: expect.any(String) })
    expect(verified.checks.map(({ status, found }: Record<string, string>) => `${status}: ${found}`)).toEqual([
      expect.stringMatching(/^ok: The DKIM record/),
      expect.stringMatching(/^ok: The DMARC record/),
      `ok: The CNAME record of ${DOMAIN} leads to ${HOST}.`,
      `ok: This deployment answers at https://${DOMAIN}:${port} with a valid certificate.`,
    ])
    expect(await linkBaseOf(campaign.id)).toBe(`https://${DOMAIN}:${port}`)
    expect(await ops(["link-domains", "list"])).toMatchObject({
      data: [{ domain: DOMAIN, organization_id: organization.id, verified_at: expect.any(String) }],
    })
  })

  it("is followed through several CNAME records", async () => {
    const { sender } = await add("--link-domain", DOMAIN)
    const verified = await verify(sender.id, await publish(sender.dns_records, "alias.acme.test."))
    expect(verified).toMatchObject({ link_domain_verified_at: expect.any(String) })
  })

  it.each<
    [why: string, found: RegExp, options: { cname?: string; answer?: typeof answer; settings?: Record<string, string> }]
  >([
    ["has no CNAME record", /^click\.acme\.test has no CNAME record\.$/, { cname: "" }],
    ["leads elsewhere", /leads to other\.test, and not to api\.outreach\.test\.$/, { cname: "other.test." }],
    ["leads in a circle", /leads to circle\.acme\.test, and not to/, { cname: "circle.acme.test." }],
    [
      "is answered with the proof of another deployment",
      /does not lead to this deployment: it answers with 200\.$/,
      { answer: (challenge) => ({ status: 200, body: proveLinkDomain(foreign, DOMAIN, challenge) }) },
    ],
    [
      "is answered for another name",
      /does not lead to this deployment: it answers with 200\.$/,
      { answer: (challenge) => ({ status: 200, body: proveLinkDomain(own, HOST, challenge) }) },
    ],
    [
      "is answered with the proof for an earlier challenge",
      /does not lead to this deployment/,
      { answer: () => ({ status: 200, body: proveLinkDomain(own, DOMAIN, "c".repeat(32)) }) },
    ],
    ["redirects", /it answers with 302\.$/, { answer: () => ({ status: 302, body: "" }) }],
    ["answers much", /it answers with 200\.$/, { answer: () => ({ status: 200, body: "a".repeat(1_000_000) }) }],
    [
      "has an address that is not public",
      /does not answer: blocked_address \(BLOCKED_ADDRESS\)\.$/,
      { settings: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "false" } },
    ],
    ["is checked without SECRETS_KEY", /cannot be checked without SECRETS_KEY\.$/, { settings: { SECRETS_KEY: "" } }],
    ["is checked without PUBLIC_BASE_URL", /^PUBLIC_BASE_URL names no host/, { settings: { PUBLIC_BASE_URL: "" } }],
    [
      "is checked with an address as the host of PUBLIC_BASE_URL",
      /^PUBLIC_BASE_URL names no host/,
      { settings: { PUBLIC_BASE_URL: "https://192.0.2.1" } },
    ],
  ])("is not verified if it %s", async (_, found, options) => {
    const { sender } = await add("--link-domain", DOMAIN)
    if (options.answer) answer = options.answer
    const error = await verify(sender.id, await publish(sender.dns_records, options.cname), options.settings)
    expect(error).toMatchObject({ code: "sender_not_verified" })
    const failed = error.checks.filter(({ status }: Record<string, string>) => status === "failed")
    expect(failed.map(({ found }: Record<string, string>) => found)).toContainEqual(expect.stringMatching(found))
    expect(await ops(["senders", "show", sender.id])).toMatchObject({ live_since: null, link_domain_verified_at: null })
  })

  it("is not verified with a certificate for another name, or if nothing listens", async () => {
    const { sender } = await add("--link-domain", "other.acme.test")
    const dns = await dnsServer([
      { type: "CNAME", name: "other.acme.test", data: HOST },
      { type: "A", name: "other.acme.test", data: "127.0.0.1" },
    ])
    const reasonOf = async (changed?: Readonly<Record<string, string>>) =>
      (await verify(sender.id, dns, changed)).checks.at(-1).found
    expect(await reasonOf()).toBe(
      `https://other.acme.test:${port} does not answer: tls (ERR_TLS_CERT_ALTNAME_INVALID).`,
    )
    const closed = await reservePort()
    expect(await reasonOf({ PUBLIC_BASE_URL: `https://${HOST}:${closed}` })).toBe(
      `https://other.acme.test:${closed} does not answer: refused (ECONNREFUSED).`,
    )
  })

  it("may get a certificate from the beginning of its verification on", async () => {
    const { sender } = await add("--link-domain", DOMAIN)
    const served = () =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) =>
            sql`select domain from link_domains where verifying_until > clock_timestamp() + interval '59 minutes'`,
        ),
      )
    expect(await served()).toEqual([])
    answer = () => ({ status: 503, body: "" })
    await verify(sender.id, await publish(sender.dns_records))
    expect(await served()).toEqual([{ domain: DOMAIN }])
  })

  it("belongs to one organization, and outlives the senders that name it once it is verified", async () => {
    const { sender, organization } = await add("--link-domain", DOMAIN)
    await verify(sender.id, await publish(sender.dns_records))
    const other = await add()
    const taken = await ops(["senders", "update", other.sender.id, "--link-domain", "CLICK.acme.test"])
    expect(taken).toMatchObject({ code: "link_domain_taken", organization_id: organization.id })
    expect(await ops(["link-domains", "remove", DOMAIN, "--yes"])).toMatchObject({
      code: "link_domain_in_use",
      sender_id: sender.id,
    })
    const changed = await ops(["senders", "update", sender.id, "--link-domain", "next.acme.test"])
    expect(changed).toMatchObject({ link_domain: "next.acme.test", link_domain_verified_at: null })
    // Back again without a check: it was verified for this organization.
    const back = await ops(["senders", "update", sender.id, "--link-domain", DOMAIN])
    expect(back).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: expect.any(String) })
    const domains = async () =>
      (await ops(["link-domains", "list"])).data.map(({ domain }: { domain: string }) => domain)
    expect(await domains()).toEqual([DOMAIN])

    await ops(["senders", "remove", sender.id, "--yes"])
    expect(await domains()).toEqual([DOMAIN])
    expect(await ops(["link-domains", "remove", DOMAIN])).toMatchObject({ code: "not_confirmed" })
    expect(await ops(["link-domains", "remove", DOMAIN, "--yes"])).toMatchObject({ removed: true })
    expect(await ops(["link-domains", "remove", DOMAIN, "--yes"])).toMatchObject({
      code: "link_domain_not_found",
    })
    expect(await ops(["senders", "update", other.sender.id, "--link-domain", DOMAIN])).toMatchObject({
      link_domain: DOMAIN,
    })
  })

  it.each([
    [HOST, "The link domain api.outreach.test is also the host of PUBLIC_BASE_URL,"],
    ["acme.test", /is also the From domain, and a name with a CNAME record can have no other use/],
    ["bounces.acme.test", /is also the bounce domain/],
  ])("is not %s", async (domain, message) => {
    const { sender } = await add("--bounce-domain", "bounces.acme.test")
    const refused = await ops(["senders", "update", sender.id, "--link-domain", domain])
    expect(refused).toMatchObject({ code: "link_domain_unusable", message: expect.stringMatching(message) })
  })

  it("has one form, whatever letters it is written with", async () => {
    expect((await add("--link-domain", "Click.BÜRO.test")).sender).toMatchObject({
      link_domain: "click.xn--bro-hoa.test",
    })
    for (const domain of ["click", "https://click.acme.test", "click.acme.test/x", "127.0.0.1", "*.acme.test"]) {
      const { code } = await run([
        "senders",
        "create",
        "--organization",
        `org_${"0".repeat(32)}`,
        "--from",
        "a@acme.test",
        "--link-domain",
        domain,
      ])
      expect([domain, code]).toEqual([domain, 2])
    }
  })

  it("is checked by the doctor", async () => {
    const { sender } = await add("--link-domain", DOMAIN)
    const dns = await publish(sender.dns_records)
    const doctor = async () => {
      const { checks } = await ops(["doctor", "--dns-server", dns])
      return checks.flatMap(({ check, status, found }: Record<string, string>) =>
        check === "senders" ? [`${status}: ${found}`] : [],
      )
    }
    expect(await doctor()).toEqual([
      `warning: The key of ${sender.id} signs nothing yet.`,
      `warning: No link of ${sender.id} stands on ${DOMAIN} yet.`,
    ])
    await verify(sender.id, dns)
    expect(await doctor()).toEqual(["ok: The DNS records of 1 of 1 sender are right."])
    answer = () => ({ status: 404, body: "" })
    expect(await doctor()).toEqual([
      `failed: https://${DOMAIN}:${port} does not lead to this deployment: it answers with 404.`,
    ])
  })
})
