import { execSync, spawnSync } from "node:child_process"
import { createPrivateKey, generateKeyPairSync } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { type Config, ConfigProvider, Effect, Redacted, Result } from "effect"
import { WorkerConfig } from "../src/WorkerConfig.ts"

const required = {
  DATABASE_URL: "postgres://127.0.0.1/outreach",
  SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
  SMTP_URL: "smtp://user:password@mail.test:587",
  MAIL_FROM: "outreach@acme.test",
}

const read = (env: Record<string, string>) =>
  Effect.runSync(Effect.result(WorkerConfig.parse(ConfigProvider.fromEnv({ env: { ...required, ...env } }))))

const rsaKey = (modulusLength: number) =>
  generateKeyPairSync("rsa", { modulusLength }).privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")

const refusal = (env: Record<string, string>) => {
  const result = read(env)
  return Result.isFailure(result) ? ((result.failure as Config.ConfigError).cause as Error).message : undefined
}

describe("WorkerConfig", () => {
  it("needs four settings, and has the specification's schedule, no private addresses, and bounds", () => {
    expect(Result.getOrThrow(read({}))).toMatchObject({
      deployment: "development",
      publicBaseUrl: "http://127.0.0.1:8080",
      mail: {
        sender: { from: { name: "", address: "outreach@acme.test" }, dkim: null },
        bounceDomain: "acme.test",
        bouncePort: null,
        perMinute: null,
        perDomainMinute: null,
      },
      webhookRetryDelays: { delays: SPECIFIED_SCHEDULE.delays },
      webhookAllowPrivateAddresses: false,
      webhookProxy: null,
      webhooks: { callSeconds: 15, leaseSeconds: 9, maxInFlight: 512, perEndpoint: 16 },
      drainSeconds: 20,
      retention: {
        historyDays: 90,
        eventsMonths: null,
        inboxMonths: null,
        deadLettersDays: null,
        recipientsMonths: null,
      },
    })
  })

  it("keeps everything except the history permanently, unless a setting limits it", () => {
    const { retention } = Result.getOrThrow(
      read({ EVENTS_MONTHS: "24", INBOX_MONTHS: "12", DEAD_LETTERS_DAYS: "400", RECIPIENTS_MONTHS: "18" }),
    )
    expect(retention).toEqual({
      historyDays: 90,
      eventsMonths: 24,
      inboxMonths: 12,
      deadLettersDays: 400,
      recipientsMonths: 18,
    })
  })

  it.each(["DATABASE_URL", "SECRETS_KEY", "SMTP_URL", "DKIM_KEY", "WEBHOOK_PROXY_URL"])(
    "reads the secret %s also from a file",
    (name) => {
      const sentence = `The file of ${name}_FILE does not exist.`
      expect(refusal({ [name]: "", [`${name}_FILE`]: "/nowhere" })).toBe(sentence)
    },
  )

  it.each(Object.keys(required))("names %s when it is missing", (name) => {
    expect(refusal({ [name]: "" })).toMatch(new RegExp(`^${name} is not set\\. It must be `))
  })

  it.each([
    ["SMTP_URL", "http://mail.test"],
    ["SMTP_URL", "mail.test:25"],
    ["MAIL_FROM", "Acme"],
    ["MAIL_FROM", "a@acme.test, b@acme.test"],
    ["MAIL_FROM", "Group: a@acme.test;"],
    ["MAIL_FROM", "a@acme.test\r\nBcc: b@acme.test"],
    ["WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "yes"],
    ["WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "constructor"],
    ["WEBHOOK_CALL_SECONDS", "0"],
    ["WEBHOOK_LEASE_SECONDS", "46"],
    ["WEBHOOK_CALLS_IN_FLIGHT", "1.5"],
    ["WEBHOOK_CALLS_PER_ENDPOINT", "x"],
    ["DRAIN_SECONDS", "-1"],
    ["DRAIN_SECONDS", "301"],
    ["ADMIN_PORT", "65536"],
    ["ADMIN_HOST", "not a host"],
    ["HISTORY_DAYS", "0"],
    ["EVENTS_MONTHS", "0"],
    ["INBOX_MONTHS", "never"],
    ["DEAD_LETTERS_DAYS", "1.5"],
    ["RECIPIENTS_MONTHS", "0"],
    ["RECIPIENTS_MONTHS", "1y"],
    ["MAIL_PER_MINUTE", "many"],
    ["MAIL_PER_DOMAIN_MINUTE", "-1"],
    ["DNS_SERVERS", "dns.test"],
    ["WEBHOOK_PROXY_URL", "proxy.test:3128"],
    ["WEBHOOK_PROXY_EXCEPT", "10.0.0.0/33"],
    ["BOUNCE_DOMAIN", "bounces@acme.test"],
    ["BOUNCE_SMTP_HOST", "not a host"],
    ["BOUNCE_SMTP_PORT", "65536"],
    ["DKIM_KEY", "c2VjcmV0"],
    ["DKIM_KEY", rsaKey(512)],
    ["DKIM_KEY", generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")],
  ])("refuses %s=%j without repeating it", (name, value) => {
    expect(refusal({ [name]: value })).toMatch(new RegExp(`^${name} is malformed\\. It must be `))
  })

  it("requires rising times for the three steps of a failing endpoint, and accepts none for each", () => {
    const times = (...hours: ReadonlyArray<string>) => ({ WEBHOOK_FAILING_HOURS: hours.join(",") })
    const failing = (env: Record<string, string>) => Result.getOrThrow(read(env)).failing
    expect(failing({})).toEqual({ notice: 24, reminder: 72, disable: 120 })
    expect(failing(times("none", "none", "none"))).toEqual({ notice: null, reminder: null, disable: null })
    expect(failing(times("5", "none", "6"))).toEqual({ notice: 5, reminder: null, disable: 6 })
    for (const wrong of [times("24", "24", "120"), times("24", "none", "24"), times("72", "24", "120")]) {
      expect(refusal(wrong)).toMatch(/^WEBHOOK_FAILING_HOURS is malformed: the hours do not rise\./)
    }
    for (const wrong of [
      ["0", "72", "120"],
      ["24", "72"],
      ["24", "72", "9000"],
      ["24", "72", "120", ""],
      ["1", "2", "3", "4"],
    ])
      expect(refusal(times(...wrong))).toMatch(/^WEBHOOK_FAILING_HOURS is malformed\. It must be three rising numbers/)
  })

  it("accepts a display name in the sender's address", () => {
    const { mail } = Result.getOrThrow(read({ MAIL_FROM: `"Acme, Outreach" <outreach@acme.test>` }))
    expect(mail.sender.from).toEqual({ name: "Acme, Outreach", address: "outreach@acme.test" })
  })

  it("encodes an international sender domain in ASCII, and rejects an address that needs SMTPUTF8", () => {
    const { mail } = Result.getOrThrow(read({ MAIL_FROM: "Büro <outreach@büro.test>" }))
    expect(mail.sender.from).toEqual({ name: "Büro", address: "outreach@xn--bro-hoa.test" })
    expect(refusal({ MAIL_FROM: "büro@acme.test" })).toMatch(/^MAIL_FROM is malformed/)
  })

  it("signs for the sender's domain with an RSA key", () => {
    const { mail } = Result.getOrThrow(read({ DKIM_KEY: rsaKey(1024) }))
    expect(mail.sender.dkim).toMatchObject({ domain: "acme.test", keys: [{ selector: "outreach" }] })
    expect(JSON.stringify(mail)).not.toContain("PRIVATE KEY")
  })

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 })
  const der = (type: "pkcs1" | "pkcs8") => privateKey.export({ type, format: "der" }).toString("base64")
  const pem = (type: "pkcs1" | "pkcs8") => privateKey.export({ type, format: "pem" }).toString()
  it.each([
    ["PKCS#1, DER in base64", der("pkcs1")],
    ["PKCS#8, DER in base64", der("pkcs8")],
    ["DER in base64 of several lines", der("pkcs8").replace(/.{76}/g, "$&\n")],
    ["PKCS#1, PEM", pem("pkcs1")],
    ["PKCS#8, PEM", pem("pkcs8")],
    ["PEM on one line, as an environment file takes it", pem("pkcs8").replaceAll("\n", "\\n")],
    ["PEM with the line ends of Windows", pem("pkcs1").replaceAll("\n", "\r\n")],
  ])("reads a key in %s", (_, text) => {
    const { mail } = Result.getOrThrow(read({ DKIM_KEY: text }))
    expect(createPrivateKey(Redacted.value(mail.sender.dkim!.keys[0]!.privateKey)).equals(privateKey)).toBe(true)
  })

  // OpenSSL 3.0 writes PKCS#1 where newer versions write PKCS#8.
  it.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
    "reads what the documented command for a key writes",
    () => {
      const settings = readFileSync(new URL("../../../docs/settings.md", import.meta.url), "utf8")
      const [, command] = /^\| `DKIM_KEY` \|.*`(openssl .*?)`/m.exec(settings)!
      const key = execSync(command!.replaceAll("\\|", "|"), { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      expect(refusal({ DKIM_KEY: key })).toBeUndefined()
    },
  )

  it("names the wrong delay of a schedule", () => {
    expect(refusal({ WEBHOOK_RETRY_DELAYS: "30s,soon" })).toBe(
      'WEBHOOK_RETRY_DELAYS is malformed: delay 2, "soon", is not a whole number of ms, s, m, h or d, such as 30s, up to 366d. It must be a list of delays such as 30s,2m,10m,1h,6h,24h.',
    )
  })
})
