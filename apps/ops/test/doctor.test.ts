import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer } from "node:net"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { createResolver } from "@outreach/mail/createResolver"
import { RELEASE } from "@outreach/process/release"
import { dnsServer } from "@outreach/testing/dnsServer"
import { listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import { asRole } from "@outreach/testing/testRoles"
import type { Answer } from "dns-packet"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { endpointFinding } from "../src/doctor/endpointFinding.ts"
import { greetingFinding } from "../src/doctor/smtpFindings.ts"
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

/** Runs the doctor, and returns its exit code and its checks; of the given name alone if there is one. */
const consult = async (settings: Record<string, string>, name?: string, ...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await run(["doctor", "--output", "json", ...args], { SECRETS_KEY: KEY, ...settings })
  expect(stderr).toBe("")
  const value = JSON.parse(stdout)
  const checks: ReadonlyArray<Check> = (code === 0 ? value : value.error).checks
  return { code, checks: name === undefined ? checks : checks.filter(({ check }) => check === name) }
}
/** Runs the doctor, and returns what it found in one check. */
const finding = async (settings: Record<string, string>, name: string, ...args: ReadonlyArray<string>) => {
  const { checks } = await consult(settings, name, ...args)
  expect(checks).toHaveLength(1)
  return checks[0]!
}

const createEndpoint = (endpointUrl: string) =>
  meanwhile(
    Effect.gen(function* () {
      const organization = yield* (yield* OrganizationRepository).create(
        yield* createIdentifier("organization"),
        "Acme",
      )
      const url = PrivateEndpointUrl.make(endpointUrl)
      const endpoint = { organizationId: organization.id, url, eventTypes: null }
      return yield* (yield* EndpointRepository).create({ ...endpoint, id: yield* createIdentifier("endpoint") })
    }),
  )

const txt = (name: string, ...data: ReadonlyArray<string>): Answer => ({ type: "TXT", name, data: [...data] })
const published = (key: KeyObject) => key.export({ type: "spki", format: "der" }).toString("base64")
/** The records of a domain whose e-mails receivers accept. */
const RECORDS = [
  // A long record comes in several texts.
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
}

beforeEach(() => meanwhile(SqlClient.SqlClient.use((sql) => sql`truncate organizations, webhook_endpoints cascade`)))

describe("doctor", () => {
  it("says why the API does not read from a standby", async () => {
    const isNone = { DATABASE_READ_URL: url() }
    expect(await finding(isNone, "standby")).toMatchObject({
      status: "failed",
      found: expect.stringContaining("is not a standby: it was promoted, or the address is wrong."),
    })
    const isAway = { DATABASE_READ_URL: `postgres://outreach_api@127.0.0.1:${await reservePort()}/outreach` }
    expect((await finding(isAway, "standby")).found).toBe(
      "The standby of DATABASE_READ_URL does not answer (ECONNREFUSED).",
    )
  })

  it("finds nothing wrong with a deployment that works, and sends neither an e-mail nor a webhook", async () => {
    const [smtp, partner] = [await mailServer(), await partnerServer()]
    await createEndpoint(partner.url)
    const api = createHttpServer((_, response) => response.end(JSON.stringify({ status: "ok", version: RELEASE })))
    const settings = {
      ...MAIL,
      SMTP_URL: smtp.url,
      CURSOR_KEY: KEY,
      PUBLIC_BASE_URL: `http://127.0.0.1:${await listen(api)}`,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    }
    const args = ["--dns-server", await dnsServer(RECORDS)]
    const { code, checks } = await consult(settings, undefined, ...args)
    const statuses = checks.filter(({ check }) => check !== "role").map(({ check, status }) => `${check} ${status}`)
    expect(statuses).toEqual(
      ["settings", "settings", "settings", "database", "schema", "clock", "partitions", "keys", "endpoints"]
        .concat("mail", "DKIM", "SPF", "DMARC", "MX", "address")
        .map((check) => `${check} ok`),
    )
    expect({ code, messages: smtp.messages, received: partner.received }).toEqual({
      code: 0,
      messages: [],
      received: [],
    })
    const { stdout } = await run(["doctor", ...args], { SECRETS_KEY: KEY, ...settings })
    expect(stdout).toMatch(/^ok {7}settings {4}The API accepts its \d+ settings, of which \d+ are set\.$/m)
    expect(stdout).toMatch(/^16 checks, and none failed\.$/m)
    for (const secret of [KEY, MAIL.DKIM_KEY, "outreach@acme", "reports@", partner.url])
      expect(stdout).not.toContain(secret)
  })

  it("fails a PUBLIC_BASE_URL that is not https, in production alone", async () => {
    const address = `http://127.0.0.1:${await reservePort()}`
    const found = (deployment: string) => finding({ DEPLOYMENT: deployment, PUBLIC_BASE_URL: address }, "address")
    expect(await found("production")).toMatchObject({
      status: "failed",
      found: expect.stringContaining("PUBLIC_BASE_URL is not an https address"),
      advice: expect.stringContaining("https"),
    })
    expect((await found("staging")).found).toContain("The API does not respond")
  })

  it("names every setting that is wrong, missing or a placeholder, and no value", async () => {
    const { code, checks } = await consult(
      {
        PORT: "hunter2",
        WEBHOOK_CALL_SECONDS: "0",
        MAIL_FROM: "Outreach <outreach@example.test>",
        LOG_LEVEL: "loud",
        CONSOLE_PROXY_HEADER: "X-Forwarded-User",
        SECRETS_KEY: Buffer.alloc(32).toString("base64"),
      },
      "settings",
    )
    expect(code).toBe(1)
    expect(checks.map(({ status, found }) => `${status}: ${found}`)).toEqual([
      expect.stringMatching(/^failed: PORT is malformed/),
      expect.stringMatching(/^warning: CURSOR_KEY is not set\./),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
      "warning: SECRETS_KEY of the API does not look random.",
      expect.stringMatching(/^warning: SMTP_URL is not set\./),
      expect.stringMatching(/^failed: WEBHOOK_CALL_SECONDS is malformed/),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
      "warning: MAIL_FROM of the worker looks like a placeholder.",
      "warning: SECRETS_KEY of the worker does not look random.",
      expect.stringMatching(/^failed: CONSOLE_PROXY_HEADER is believed from TRUST_PROXY alone/),
      expect.stringMatching(/^failed: PORT is malformed/),
      expect.stringMatching(/^failed: LOG_LEVEL is malformed/),
      "warning: MAIL_FROM of the console looks like a placeholder.",
      "warning: SECRETS_KEY of the console does not look random.",
    ])
    expect(JSON.stringify(checks)).not.toMatch(/hunter2|loud|outreach@/)
  })

  it("goes on without a database, and says why there is no connection", async () => {
    const { code, checks } = await consult({ DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${await reservePort()}/x` })
    expect(code).toBe(1)
    expect([...new Set(checks.map(({ check }) => check))]).toEqual(["settings", "database", "mail", "address"])
    expect(checks.find(({ check }) => check === "database")).toMatchObject({
      status: "failed",
      found: expect.stringContaining("No connection to the database of DATABASE_URL"),
    })
    expect(JSON.stringify(checks)).not.toContain("hunter2")
  })

  it("points to migrate where the schema is missing, and skips what needs it", async () => {
    const address = new URL(url())
    address.pathname = "/postgres"
    const { checks } = await consult({ DATABASE_URL: address.href })
    const found = (name: string) => checks.find(({ check }) => check === name)
    expect(found("schema")).toMatchObject({ status: "failed", found: expect.stringContaining("run `ops migrate`") })
    expect(["clock", "keys", "endpoints"].map((name) => found(name)?.status)).toEqual(["skipped", "skipped", "skipped"])
  })

  it("says that another baseline made the database", async () => {
    const setChecksum = (checksum: string) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql<{ checksum: string }>`
            update migrations set checksum = ${checksum} from migrations known
            where migrations.file = 'migrations/0001_baseline.sql' and known.file = migrations.file returning known.checksum`,
        ),
      )
    const [before] = await setChecksum("of another baseline")
    expect((await finding({}, "schema")).found).toMatch(
      /the database was made before the baseline .* create a new one.* \(OTHER_BASELINE\)\.$/,
    )
    await setChecksum(before!.checksum)
  })

  it("says that a newer release has removed functions of this one", async () => {
    const change = (statement: string) => meanwhile(SqlClient.SqlClient.use((sql) => sql.unsafe(statement)))
    await change("insert into migrations (file, checksum) values ('migrations/9999_later.sql', 'of a later release')")
    expect((await finding({}, "schema")).status).toBe("ok")
    await change("update migrations set file = 'functions/make_id_2.sql' where file = 'functions/make_id.sql'")
    expect((await finding({}, "schema")).found).toBe(
      "The schema is of a newer release, which has removed functions of this one: make_id.",
    )
    await change("update migrations set file = 'functions/make_id.sql' where file = 'functions/make_id_2.sql'")
    await change("delete from migrations where file = 'migrations/9999_later.sql'")
  })

  it("reports whether the role has the rights of its kind, and whether it has more", async () => {
    expect((await finding({}, "role")).found).toMatch(/has the rights of operator; it owns 0 of \d+ tables/)
    const role = asRole(url(), "operator").match(/\/\/(\w+)/)![1]!
    await meanwhile(SqlClient.SqlClient.use((sql) => sql`revoke update on campaigns from ${sql(role)}`))
    const lacking = await finding({}, "role")
    await meanwhile(SqlClient.SqlClient.use((sql) => sql`grant update on campaigns to ${sql(role)}`))
    expect(lacking).toMatchObject({
      status: "failed",
      found: `The role ${role} lacks 1 right of its kind: update on campaigns.`,
    })
    expect(await finding({ DATABASE_URL: url() }, "role")).toMatchObject({
      status: "warning",
      found: expect.stringContaining("superuser"),
    })
  })

  it("counts the secrets that SECRETS_KEY does not open", async () => {
    const { organizationId } = await createEndpoint("https://partner.test/")
    await meanwhile(rotateSecret(organizationId, 0))
    expect(await finding({}, "keys")).toMatchObject({
      status: "failed",
      found: "SECRETS_KEY does not open 1 of 1 stored secret.",
    })
  })

  it("reports an organization's clock that is ahead", async () => {
    await createEndpoint("https://partner.test/")
    await meanwhile(
      SqlClient.SqlClient.use((sql) => sql`update organization_clock set last = clock_timestamp() + interval '1 hour'`),
    )
    expect(await finding({}, "clock")).toMatchObject({ status: "warning", found: expect.stringContaining("s ahead.") })
  })

  it("warns of FAILOVER_SECONDS where no standby is synchronous, or its role may not see which are", async () => {
    expect(await finding({ FAILOVER_SECONDS: "120", DATABASE_URL: url() }, "failover")).toMatchObject({
      status: "warning",
      found: expect.stringContaining("a standby that may be promoted is not in synchronous_standby_names."),
    })
    expect(await finding({ FAILOVER_SECONDS: "120" }, "failover")).toMatchObject({
      status: "warning",
      found: expect.stringContaining("may not see which standbys are synchronous"),
    })
  })
})

describe("doctor on endpoints", () => {
  const open = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" }

  it("reports a closed port, a wrong certificate, and an address that webhooks may not go to", async () => {
    const refused = await createEndpoint(`http://127.0.0.1:${await reservePort()}/hooks?token=hunter2`)
    const server = createTlsServer({ key: TLS, cert: TLS })
    const untrusted = await createEndpoint(`https://127.0.0.1:${await listen(server)}/hooks`)
    const sound = await createEndpoint((await partnerServer()).url)
    const { code, checks } = await consult(open, "endpoints")
    expect({ code, found: checks.map(({ status, found }) => `${status}: ${found}`).sort() }).toEqual({
      code: 1,
      found: [
        `failed: The endpoint ${refused.id} cannot be reached: refused (ECONNREFUSED).`,
        `failed: The endpoint ${untrusted.id} cannot be reached: tls (DEPTH_ZERO_SELF_SIGNED_CERT).`,
        "ok: Connections succeed to 1 of 3 enabled endpoints.",
      ].sort(),
    })
    expect(JSON.stringify(checks)).not.toContain("hunter2")
    const { checks: strict } = await consult({}, "endpoints")
    expect(strict.map(({ found }) => found)).toContain(`The endpoint ${sound.id} cannot be reached: blocked_address.`)
  })

  it("ends with a partner that takes the connection and never shakes hands", async () => {
    const url = PrivateEndpointUrl.make(`https://127.0.0.1:${await listen(createServer())}/`)
    const id = EndpointId.make(`whe_${"0".repeat(32)}`)
    const organizationId = OrganizationId.make(`org_${"0".repeat(32)}`)
    expect(
      await Effect.runPromise(
        Effect.flip(endpointFinding({ id, organizationId, url }, { allowPrivate: true, servers: [], connectMs: 50 })),
      ),
    ).toMatchObject({
      found: `The endpoint ${id} cannot be reached: connect_timeout.`,
    })
  })

  it("leaves disabled ones alone", async () => {
    const { id } = await createEndpoint("http://127.0.0.1:1/")
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) =>
          sql`update endpoint_readers set failing_since = now() - interval '2 days', notices = 1 where endpoint_id = ${id}`,
      ),
    )
    const failing = await finding(open, "failing")
    expect(failing).toMatchObject({ status: "warning", advice: expect.stringContaining("ops organizations update") })
    expect(failing!.found).toMatch(
      new RegExp(`^Every call to the endpoint ${id} has failed since .*no contacts to tell`),
    )
    await meanwhile(EndpointRepository.use((endpoints) => endpoints.disable(id)))
    expect(await finding(open, "endpoints")).toMatchObject({ status: "skipped" })
  })
})

describe("doctor on e-mail", () => {
  const lookUp = async (records: ReadonlyArray<Answer>, settings: Record<string, string> = {}) => {
    const args = ["--dns-server", await dnsServer(records)]
    const { checks } = await consult({ ...MAIL, SMTP_URL: "smtp://127.0.0.1:1", ...settings }, undefined, ...args)
    return { checks: checks.filter(({ check }) => /^(?:DKIM|SPF|DMARC|MX)$/.test(check)) }
  }
  const login = async (SMTP_URL: string) => {
    const args = ["--dns-server", await dnsServer(RECORDS)]
    return (await finding({ ...MAIL, SMTP_URL }, "mail", ...args)).found
  }

  it("is skipped without the worker's settings", async () => {
    expect(await finding({}, "mail")).toMatchObject({
      status: "skipped",
      found: expect.stringContaining("SMTP_URL is not set"),
    })
  })

  it("reports why the mail server does not let us in, without its words", async () => {
    const rejecting = await mailServer({ at: "connect", reply: "554 5.7.1 me@acme.test is on a list" })
    expect(await login(rejecting.url)).toBe("The mail server does not let us in: 554 5.7.1 at CONN.")
    expect(await login("smtp://127.0.0.1:1")).toBe("The mail server does not let us in: ECONNREFUSED at CONN.")
    const open = await mailServer()
    expect(await login(open.url.replace("://", "://me:hunter2@"))).toMatch(/offers no login/)
  })

  it("reports a mail server that offers no TLS where that is required", async () => {
    const settings = { ...MAIL, SMTP_URL: (await mailServer()).url, SMTP_REQUIRE_TLS: "true" }
    expect(await finding(settings, "mail", "--dns-server", await dnsServer(RECORDS))).toMatchObject({
      status: "failed",
      found: "The mail server does not let us in: it offers no TLS, which is required.",
    })
  })

  it.each([
    ["[127.0.0.1]", "10.0.0.5", "warning", "which is not a name."],
    ["nowhere.acme.test", "10.0.0.5", "warning", "which has no address."],
    ["mail.acme.test", "8.8.8.8", "warning", "which does not lead to 8.8.8.8, from where the connection comes."],
    ["other.acme.test", "9.9.9.9", "warning", "and the reverse name of 9.9.9.9 is mail.acme.test."],
    ["bare.acme.test", "10.0.0.5", "warning", "and the reverse name of 9.9.9.10 is missing."],
    ["Mail.acme.test", "9.9.9.9", "ok", "the reverse name of 9.9.9.9."],
    [
      "mail.acme.test",
      "10.0.0.5",
      "ok",
      "the reverse name of 9.9.9.9. The connection comes from the private address 10.0.0.5, so the server alone knows which address it sees.",
    ],
  ])("compares the greeting %s from %s with the reverse name: %s", async (name, localAddress, status, found) => {
    const address = (of: string, data: string): Answer => ({ type: "A", name: of, data })
    const resolver = createResolver([
      await dnsServer([
        ...[address("mail.acme.test", "9.9.9.9"), address("other.acme.test", "9.9.9.9")],
        ...[address("Mail.acme.test", "9.9.9.9"), address("bare.acme.test", "9.9.9.10")],
        { type: "PTR", name: "9.9.9.9.in-addr.arpa", data: "mail.acme.test" },
      ]),
    ])
    const made = await Effect.runPromise(greetingFinding(resolver, { name, localAddress }))
    expect(made).toMatchObject({ status, found: `The mail server is greeted as ${name}, ${found}` })
  })

  it("reports that a domain has no records", async () => {
    const { checks } = await lookUp([])
    expect(checks.map(({ check, status, found }) => `${check} ${status}: ${found}`)).toEqual([
      "DKIM failed: There is no DKIM record at outreach._domainkey.acme.test.",
      "SPF failed: There is no SPF record at bounces.acme.test.",
      "DMARC warning: There is no DMARC record for acme.test.",
      "MX failed: The domain bounces.acme.test has neither an MX record nor an address.",
    ])
  })

  it("reports records that do not fit the settings", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey
    const { checks } = await lookUp(
      [
        txt("s1._domainkey.relay.test", `v=DKIM1; p=${published(other)}`),
        txt("bounces.acme.test", "v=spf1 include:a.test +all"),
        txt("_dmarc.acme.test", "v=DMARC1; p=reject; sp=none"),
        { type: "MX", name: "bounces.acme.test", data: { preference: 0, exchange: "." } },
      ],
      { MAIL_FROM: "outreach@news.acme.test", DKIM_DOMAIN: "relay.test", DKIM_SELECTOR: "s1" },
    )
    expect(checks.map(({ check, status, found }) => `${check} ${status}: ${found}`)).toEqual([
      "DKIM failed: The DKIM record at s1._domainkey.relay.test belongs to another key than DKIM_KEY.",
      "SPF warning: The SPF record of bounces.acme.test includes a.test, and ends with +all.",
      "DMARC warning: The DMARC record at _dmarc.acme.test asks receivers for the policy none. The DKIM domain relay.test is not aligned with news.acme.test.",
      "MX failed: The domain bounces.acme.test accepts no e-mail (null MX).",
    ])
  })

  it("distinguishes a name server that is away from a record that is missing", async () => {
    const settings = { ...MAIL, SMTP_URL: "smtp://127.0.0.1:1" }
    expect((await finding(settings, "SPF", "--dns-server", `127.0.0.1:${await reservePort()}`)).found).toMatch(
      /^The name server gives no response for bounces\.acme\.test \(E\w+\)\.$/,
    )
  })
})
