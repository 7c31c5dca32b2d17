import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { createResolver, dnsFindings } from "@outreach/mail/dnsFindings"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { dnsServer } from "@outreach/testing/startNameServer"
import { ConfigProvider, Effect } from "effect"
import { describe, expect, it } from "vitest"

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const MAIL = {
  MAIL_FROM: "Acme <outreach@acme.test>",
  BOUNCE_DOMAIN: "bounces.acme.test",
  DKIM_KEY: privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
  SMTP_URL: `smtp://${CLOSED_ADDRESS}`,
}
const published = (key: KeyObject) => key.export({ type: "spki", format: "der" }).toString("base64")

const look = (server: string, env: Readonly<Record<string, string>> = {}) => {
  const settings = Effect.runSync(smtpSettings.parse(ConfigProvider.fromEnv({ env: { ...MAIL, ...env } })))
  return Effect.forEach(Object.entries(dnsFindings(createResolver([server]), settings)), ([check, finding]) =>
    Effect.map(Effect.catch(finding, Effect.succeed), ({ status, found }) => `${check} ${status}: ${found}`),
  ).pipe(Effect.runPromise)
}

describe("the findings about the DNS records", () => {
  it("report that a domain has no records", async () => {
    expect(await look(await dnsServer([]))).toEqual([
      "DKIM failed: There is no DKIM record at outreach._domainkey.acme.test.",
      "SPF failed: There is no SPF record at bounces.acme.test.",
      "DMARC warning: There is no DMARC record for acme.test.",
      "MX failed: The domain bounces.acme.test has neither an MX record nor an address.",
    ])
  })

  it("report records that don't match the settings", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey
    const records = await dnsServer([
      { type: "TXT", name: "outreach._domainkey.news.acme.test", data: `v=DKIM1; p=${published(other)}` },
      { type: "TXT", name: "bounces.acme.test", data: "v=spf1 include:a.test +all" },
      { type: "TXT", name: "_dmarc.acme.test", data: "v=DMARC1; p=reject; sp=none" },
      { type: "MX", name: "bounces.acme.test", data: { preference: 0, exchange: "." } },
    ])
    const settings = { MAIL_FROM: "outreach@news.acme.test" }
    expect(await look(records, settings)).toEqual([
      "DKIM failed: The DKIM record at outreach._domainkey.news.acme.test belongs to another key than DKIM_KEY.",
      "SPF warning: The SPF record of bounces.acme.test includes a.test, and ends with +all.",
      "DMARC ok: The DMARC record at _dmarc.acme.test requests the policy none.",
      "MX failed: The domain bounces.acme.test accepts no e-mail (null MX).",
    ])
  })

  it("distinguish an unresponsive name server from a missing record", async () => {
    expect((await look(CLOSED_ADDRESS))[1]).toMatch(
      /^SPF \w+: The name server gives no response for bounces\.acme\.test \(E\w+\)\.$/,
    )
  })
})
