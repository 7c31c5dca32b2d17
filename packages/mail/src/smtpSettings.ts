import { PreflightSettings } from "@outreach/domain/campaigns/PreflightSettings"
import { toAsciiDomain } from "@outreach/domain/DomainName"
import { domainOf } from "@outreach/domain/senders/Sender"
import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { configError, secretSetting, setting } from "@outreach/process/setting"
import { Host, optionalPublicBaseUrl, trueOrFalse } from "@outreach/process/settings"
import { Config, Effect, Layer, Redacted, Schema } from "effect"
import { readDkimKeyPair } from "./dkimKeys.ts"
import { mailFrom } from "./mailFrom.ts"

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

/** `SMTP_EHLO_NAME`: the name that we greet that server with. Default: the name of this machine. */
const ehloName = setting(
  "SMTP_EHLO_NAME",
  noneOr(textSchema("a domain name such as mail.acme.example", toAsciiDomain)),
  "none",
)

/** `SMTP_REQUIRE_TLS`: whether nothing is sent to that server except over TLS, with a certificate that is valid for its name. Default `false`. */
const requireTls = setting("SMTP_REQUIRE_TLS", trueOrFalse, "false")

/** The address of the server, which says how it is greeted, and whether TLS is required. */
const smtpServer = Config.all({ smtpUrl, ehloName, requireTls }).pipe(
  Config.mapEffect(({ smtpUrl, ehloName, requireTls }) => {
    const url = new URL(Redacted.value(smtpUrl))
    if (ehloName !== null) url.searchParams.set("name", ehloName)
    if (requireTls) {
      url.searchParams.set("requireTLS", "true")
      if (url.searchParams.getAll("tls.rejectUnauthorized").some((text) => text !== "true")) {
        return configError(
          "SMTP_URL allows certificates that are not valid, and SMTP_REQUIRE_TLS does not. Remove tls.rejectUnauthorized from SMTP_URL.",
        )
      }
    }
    return Effect.succeed(ehloName !== null || requireTls ? Redacted.make(url.href, { label: "SMTP_URL" }) : smtpUrl)
  }),
)

/** `DKIM_KEY`: the RSA key that signs the e-mails, as PKCS#8 or PKCS#1, DER in base64 or PEM; `none` signs none. Default `none`. */
const dkimKey = secretSetting(
  "DKIM_KEY",
  noneOr(textSchema("an RSA key of at least 1024 bits, PKCS#8 or PKCS#1, DER in base64 or PEM", readDkimKeyPair)),
  "none",
)

/** A domain name, or a part of one. */
const DomainName = Schema.String.check(Schema.isPattern(/^([\w-]+(\.[\w-]+)*)?$/)).annotate({
  expected: "a domain name",
})

/** `BOUNCE_DOMAIN`: the domain of the return paths; its mail has to reach `BOUNCE_SMTP_PORT`. Default: the domain of `MAIL_FROM`. */
const bounceDomain = setting("BOUNCE_DOMAIN", DomainName, "")

/** `BOUNCE_SMTP_HOST`: the address on which bounces are received. Default `127.0.0.1`. */
const bounceHost = setting("BOUNCE_SMTP_HOST", Host, "127.0.0.1")

/** `BOUNCE_SMTP_PORT`: the port on which workers receive bounces over SMTP; `none` receives none, and 0 takes any that is free. Default `none`. */
const bouncePort = setting(
  "BOUNCE_SMTP_PORT",
  noneOr(wholeNumber(0, 65_535), "none, or a whole number from 0 to 65535"),
  "none",
)

const dkim = Config.all({
  key: dkimKey,
  selector: setting("DKIM_SELECTOR", DomainName.annotate({ expected: "a selector, such as s2026" }), "outreach"),
  domain: setting("DKIM_DOMAIN", DomainName, ""),
})

/** How e-mails are sent: the server, and the deployment's own sender, whose keys are as those of `SenderRepository`. */
export const smtpSettings = Config.all({
  smtpUrl: smtpServer,
  from: setting("MAIL_FROM", mailFrom),
  dkim,
  bounceDomain,
  bounceHost,
  bouncePort,
}).pipe(
  Config.map(({ smtpUrl, from, dkim: { key, selector, domain }, bounceDomain, bounceHost, bouncePort }) => ({
    smtpUrl,
    bounceHost,
    bouncePort,
    bounceDomain: bounceDomain || domainOf(from.address),
    sender: {
      id: null,
      from,
      replyTo: null,
      bounceDomain: null,
      linkDomain: null,
      dkim: key && { domain: domain || domainOf(from.address), keys: [{ selector, ...key }] },
    },
  })),
)

/** `MAIL_FROM` where it is set; else null. */
export const optionalMailFrom = setting("MAIL_FROM", noneOr(mailFrom), "none")

/** The same settings for a process that sends no e-mail by itself; null where no server is named. */
export const optionalSmtpSettings = Effect.gen(function* () {
  const names = ["SMTP_URL", "SMTP_URL_FILE"].map((name) => Config.String(name).pipe(Config.withDefault("")))
  return (yield* Config.all(names)).every((text) => text === "") ? null : yield* smtpSettings
})

/** Reads what preflight checks from the settings of this process. */
export const readPreflightSettings = Effect.gen(function* () {
  const smtp = yield* optionalSmtpSettings
  return {
    signsMail: smtp === null ? null : smtp.sender.dkim !== null,
    publicBaseUrl: yield* optionalPublicBaseUrl,
  }
})

export const preflightSettings = Layer.effect(PreflightSettings, readPreflightSettings)
