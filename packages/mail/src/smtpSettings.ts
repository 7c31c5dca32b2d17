import { createPrivateKey, type KeyObject } from "node:crypto"
import { noneOr, textSchema } from "@outreach/domain/textSchema"
import { secretSetting, setting } from "@outreach/process/setting"
import { Config, Redacted, Schema } from "effect"
import { domainOf, mailFrom } from "./mailFrom.ts"

/** `SMTP_URL`: the server that takes the e-mails. */
const smtpUrl = secretSetting(
  "SMTP_URL",
  textSchema("an smtp:// or smtps:// address", (text) => {
    const url = URL.parse(text)
    return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
      ? Redacted.make(text, { label: "SMTP_URL" })
      : undefined
  }),
)

/** `DKIM_KEY`: the RSA key that signs the e-mails, as PKCS#8 or PKCS#1, DER in base64 or PEM; `none` signs none. Default `none`. */
const dkimKey = secretSetting(
  "DKIM_KEY",
  noneOr(textSchema("an RSA key of at least 1024 bits, PKCS#8 or PKCS#1, DER in base64 or PEM", readRsaKey)),
  "none",
)

/** A domain name, or a part of one. */
const DomainName = Schema.String.check(Schema.isPattern(/^([\w-]+(\.[\w-]+)*)?$/)).annotate({
  expected: "a domain name",
})

/** `BOUNCE_DOMAIN`: the domain of the return paths; its mail has to reach `BOUNCE_SMTP_PORT`. Default: the domain of `MAIL_FROM`. */
const bounceDomain = setting("BOUNCE_DOMAIN", DomainName, "")

/** How e-mails are signed, and as whom. */
const dkim = Config.all({
  key: dkimKey,
  selector: setting("DKIM_SELECTOR", DomainName.annotate({ expected: "a selector, such as s2026" }), "outreach"),
  domain: setting("DKIM_DOMAIN", DomainName, ""),
})

/** How e-mails are sent: the server, the sender, the return path's domain, and the signature. */
export const smtpSettings = Config.all({ smtpUrl, from: setting("MAIL_FROM", mailFrom), dkim, bounceDomain }).pipe(
  Config.map(({ dkim, bounceDomain, ...smtp }) => ({
    ...smtp,
    domain: domainOf(smtp.from),
    bounceDomain: bounceDomain || domainOf(smtp.from),
    dkim: dkim.key === null ? null : { ...dkim, key: dkim.key, domain: dkim.domain || domainOf(smtp.from) },
  })),
)

// nodemailer takes the key as PEM, and signs with RSA alone. OpenSSL 3.0 writes PKCS#1 where newer versions write PKCS#8.
function readRsaKey(text: string): Redacted.Redacted | undefined {
  const der = Buffer.from(text.replace(/-----[A-Z ]+-----|\\n|\s/g, ""), "base64")
  const key = readPrivateKey(der, "pkcs8") ?? readPrivateKey(der, "pkcs1")
  if (key?.asymmetricKeyType !== "rsa" || (key.asymmetricKeyDetails?.modulusLength ?? 0) < 1024) return undefined
  return Redacted.make(key.export({ type: "pkcs8", format: "pem" }).toString(), { label: "DKIM_KEY" })
}

function readPrivateKey(key: Buffer, type: "pkcs1" | "pkcs8"): KeyObject | undefined {
  try {
    return createPrivateKey({ key, format: "der", type })
  } catch {
    return undefined
  }
}
