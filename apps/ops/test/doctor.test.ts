import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer } from "node:net"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { RELEASE } from "@outreach/process/release"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { startForwardProxy } from "@outreach/testing/startForwardProxy"
import { dnsServer } from "@outreach/testing/startNameServer"
import type { Answer } from "dns-packet"
import { ConfigProvider, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { endpointFinding, type Options } from "../src/doctor/endpointFinding.ts"
import { smtpFinding } from "../src/doctor/smtpFinding.ts"
import { commandLine } from "./commandLine.ts"
import { partnerServer } from "./partnerServer.ts"

const { url, run, meanwhile } = commandLine()

const KEY = Buffer.from("0123456789abcdef0123456789ABCDEF").toString("base64")
const TLS = readFileSync(new URL("data/certificate.pem", import.meta.url))
const DKIM = generateKeyPairSync("rsa", { modulusLength: 2048 })

interface Check {
  readonly check: string
  readonly status: string
  readonly found: string
  readonly advice: string | null
}

/** Runs the doctor, and returns its exit code and its checks. */
const consult = async (settings: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await run(["doctor", "--output", "json", ...args], settings)
  expect(stderr).toBe("")
  const value = JSON.parse(stdout)
  const checks: ReadonlyArray<Check> = (code === 0 ? value : value.error).checks
  return { code, checks, find: (name: string) => checks.find(({ check }) => check === name) }
}

const txt = (name: string, ...data: ReadonlyArray<string>): Answer => ({ type: "TXT", name, data: [...data] })
const published = (key: KeyObject) => key.export({ type: "spki", format: "der" }).toString("base64")
/** The DNS records of a domain with deliverable e-mails. */
const RECORDS = [
  // A long record consists of several strings.
  txt(
    "outreach._domainkey.acme.test",
    "v=DKIM1; k=rsa; p=",
    published(DKIM.publicKey).slice(0, 200),
    published(DKIM.publicKey).slice(200),
  ),
  txt("bounces.acme.test", "v=spf1 include:_spf.relay.test ip4:192.0.2.1 -all"),
  txt("bounces.acme.test", "some-verification=1"),
  txt("_dmarc.acme.test", "v=DMARC1; p=quarantine; rua=mailto:reports@acme.test"),
  { type: "MX", name: "bounces.acme.test", data: { preference: 10, exchange: "mx.acme.test" } } as Answer,
]
const MAIL = {
  MAIL_FROM: "Acme <outreach@acme.test>",
  BOUNCE_DOMAIN: "bounces.acme.test",
  DKIM_KEY: DKIM.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
  SMTP_URL: `smtp://${CLOSED_ADDRESS}`,
}

describe("doctor", () => {
  it("finds no fault in a working deployment, and sends neither an e-mail nor a webhook", async () => {
    const [smtp, partner] = [await mailServer(), await partnerServer()]
    // The endpoints of other tests.
    await meanwhile(sql`update webhook_endpoints set enabled = false`)
    const { endpoint } = await meanwhile(seedCampaign({ recipients: 0, endpointUrl: partner.url }))
    const api = createHttpServer((_, response) => response.end(JSON.stringify({ status: "ok", version: RELEASE })))
    const settings = {
      ...{ ...MAIL, SMTP_URL: smtp.url, CURSOR_KEY: KEY, PUBLIC_BASE_URL: `http://127.0.0.1:${await listen(api)}` },
      ...{ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", SECRETS_KEY: `k2:${SECRETS_KEY.toString("base64")},k1:${KEY}` },
    }
    const args = ["--dns-server", await dnsServer(RECORDS)]
    const { code, checks, find } = await consult(settings, ...args)
    const statuses = checks.filter(({ check }) => check !== "role").map(({ check, status }) => `${check} ${status}`)
    expect(statuses).toEqual(
      [
        ...["settings", "settings", "settings", "database", "schema", "clock", "failover", "clock_faults", "keys"],
        "endpoints",
      ]
        .concat("mail", "DKIM", "SPF", "DMARC", "MX", "address")
        .map((check) => `${check} ok`),
    )
    expect(find("keys")?.found).toMatch(/^SECRETS_KEY opens each of \d stored secrets?\.$/)
    expect({ code, messages: smtp.messages, received: partner.received }).toEqual({
      ...{ code: 0, messages: [], received: [] },
    })
    const { stdout, stderr } = await run(["doctor", ...args], settings)
    expect(stdout).toMatch(/^ok {7}settings: The API accepts its \d+ settings\.$/m)
    expect(stderr).toMatch(/^17 checks, and none failed\.$/m)
    for (const secret of [KEY, MAIL.DKIM_KEY, "outreach@acme", "reports@", partner.url])
      expect(stdout).not.toContain(secret)

    // A partner whose calls have failed for a day, and who was disabled then.
    await meanwhile(
      sql`
        update endpoint_readers set failing_since = now() - interval '2 days', notices = 1 where endpoint_id = ${endpoint.id}`,
    )
    const failing = (await consult({ FAILOVER_SECONDS: "120" })).find("failing")
    expect(failing).toMatchObject({ status: "warning", advice: expect.stringContaining("ops organizations update") })
    expect(failing!.found).toMatch(
      new RegExp(`^Every call to the endpoint ${endpoint.id} has failed since .*no contacts to tell`),
    )
    await meanwhile(EndpointRepository.use((endpoints) => endpoints.disable(endpoint.id)))
    expect((await consult({})).find("endpoints")).toMatchObject({ status: "skipped" })
  })

  it("reports each endpoint that can't be reached, and a key that doesn't open a secret", async () => {
    const closed = await meanwhile(
      seedCampaign({ recipients: 0, endpointUrl: `http://${CLOSED_ADDRESS}/hooks?token=hunter2` }),
    )
    const { code, checks, find } = await consult({
      ...{ SECRETS_KEY: KEY, FAILOVER_SECONDS: "120", PUBLIC_BASE_URL: "http://acme.test" },
      ...{ DEPLOYMENT: "production", WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
    })
    expect(code).toBe(1)
    expect(checks.filter(({ check }) => check === "endpoints").map(({ found }) => found)).toContain(
      `The endpoint ${closed.endpoint.id} cannot be reached: refused (ECONNREFUSED).`,
    )
    expect(find("keys")).toMatchObject({
      ...{
        status: "failed",
        found: expect.stringMatching(/^SECRETS_KEY does not decrypt \d of \d stored secrets?\.$/),
      },
    })
    expect(find("failover")).toMatchObject({ status: "warning" })
    expect(find("address")).toMatchObject({
      ...{ status: "failed", found: expect.stringContaining("PUBLIC_BASE_URL is not an https address") },
    })
    expect(find("mail")).toMatchObject({ status: "skipped", found: expect.stringContaining("SMTP_URL is not set") })
    expect(JSON.stringify(checks)).not.toContain("hunter2")
  })

  it("names every setting that is wrong or missing, without values, also without a database", async () => {
    const { code, checks, find } = await consult({
      ...{ DATABASE_URL: `postgres://me:hunter2@${CLOSED_ADDRESS}/x`, PORT: "hunter2", WEBHOOK_CALL_SECONDS: "0" },
      ...{ MAIL_FROM: "Outreach <outreach@example.test>", LOG_LEVEL: "loud", CONSOLE_PROXY_HEADER: "X-Forwarded-User" },
      ...{ SECRETS_KEY: Buffer.alloc(32).toString("base64"), PUBLIC_BASE_URL: `http://${CLOSED_ADDRESS}` },
    })
    expect(code).toBe(1)
    const settings = checks.filter(({ check }) => check === "settings")
    expect(settings.map(({ status, found }) => `${status}: ${found}`)).toEqual([
      expect.stringMatching(/^failed: PORT is malformed/),
      expect.stringMatching(/^warning: CURSOR_KEY is not set\./),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
      expect.stringMatching(/^warning: SMTP_URL is not set\./),
      expect.stringMatching(/^failed: WEBHOOK_CALL_SECONDS is malformed/),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
      expect.stringMatching(/^failed: CONSOLE_PROXY_HEADER requires TRUST_PROXY/),
      expect.stringMatching(/^failed: PORT is malformed/),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
    ])
    expect([...new Set(checks.map(({ check }) => check))]).toEqual(["settings", "database", "mail", "address"])
    expect(find("database")).toMatchObject({
      ...{ status: "failed", found: expect.stringContaining("No connection to the database of DATABASE_URL") },
    })
    expect(find("address")?.found).toContain("The API does not respond")
    expect(JSON.stringify(checks)).not.toMatch(/hunter2|loud|outreach@/)
  })

  it("skips the checks that need a schema if the database has none", async () => {
    const address = Object.assign(new URL(url()), { pathname: "/postgres" })
    const { find } = await consult({ DATABASE_URL: address.href })
    expect(find("schema")).toMatchObject({ status: "failed", found: expect.stringContaining("run `ops migrate`") })
    expect(["clock", "keys", "endpoints"].map((name) => find(name)?.status)).toEqual(["skipped", "skipped", "skipped"])
  })
})

describe("the finding about an endpoint", () => {
  const id = EndpointId.make(`whe_${"0".repeat(32)}`)
  const organizationId = OrganizationId.make(`org_${"0".repeat(32)}`)
  const look = (address: string, options: Partial<Options> = {}) =>
    endpointFinding(
      { id, organizationId, url: PrivateEndpointUrl.make(address) },
      { allowPrivate: true, servers: [], proxy: null, ...options },
    ).pipe(Effect.catch(Effect.succeed), Effect.runPromise)

  const proxyAt = (WEBHOOK_PROXY_URL: string) =>
    Effect.runSync(webhookProxy.parse(ConfigProvider.fromEnv({ env: { WEBHOOK_PROXY_URL } })))

  it("is good if the connection succeeds, directly or through the forward proxy", async () => {
    expect(await look((await partnerServer()).url)).toMatchObject({ status: "ok" })
    const { url, requests } = await startForwardProxy()
    expect(await look((await partnerServer()).url, { proxy: proxyAt(url) })).toMatchObject({ status: "ok" })
    expect(requests).toHaveLength(1)
  })

  it.each([
    ["refused (ECONNREFUSED)", async () => look(`http://${CLOSED_ADDRESS}/`)],
    [
      "tls (DEPTH_ZERO_SELF_SIGNED_CERT)",
      async () => look(`https://127.0.0.1:${await listen(createTlsServer({ key: TLS, cert: TLS }))}/`),
    ],
    ["blocked_address", async () => look((await partnerServer()).url, { allowPrivate: false })],
    [
      "proxy_failed (refused)",
      async () => look((await partnerServer()).url, { proxy: proxyAt(`http://${CLOSED_ADDRESS}`) }),
    ],
    // The partner accepts the connection, and never shakes hands.
    ["connect_timeout", async () => look(`https://127.0.0.1:${await listen(createServer())}/`, { connectMs: 50 })],
  ])("names why it can't be reached: %s", async (reason, finding) => {
    const found = `The endpoint ${id} cannot be reached: ${reason}.`
    expect(await finding()).toMatchObject({ status: "failed", found })
  })
})

const settingsOf = (env: Readonly<Record<string, string>>) =>
  Effect.runSync(smtpSettings.parse(ConfigProvider.fromEnv({ env: { ...MAIL, ...env } })))

const look = (env: Readonly<Record<string, string>>) =>
  Effect.runPromise(Effect.catch(smtpFinding(settingsOf(env)), Effect.succeed))

it("the finding about the mail server names why it rejects us, without its words", async () => {
  const rejecting = await mailServer({ at: "connect", reply: "554 5.7.1 me@acme.test is on a list" })
  const open = await mailServer()
  const found = (reason: string) => ({
    status: "failed",
    found: `The mail server rejects the connection or the login: ${reason}.`,
  })
  expect(await look({ SMTP_URL: rejecting.url })).toMatchObject(found("554 5.7.1 to CONN"))
  expect(await look({})).toMatchObject(found("ECONNREFUSED"))
  const withoutTls = { SMTP_URL: `${open.url}?requireTLS=true` }
  expect(await look(withoutTls)).toMatchObject(found("no STARTTLS"))
  expect(await look({ SMTP_URL: open.url.replace("://", "://me:hunter2@") })).toMatchObject({
    ...{ status: "failed", found: expect.stringMatching(/offers no login/) },
  })
})
