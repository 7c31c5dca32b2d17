import { PreflightSettings } from "@outreach/domain/Deployment"
import { domainOf } from "@outreach/domain/senders/Sender"
import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { secretSetting, setting, whereSet } from "@outreach/process/setting"
import { Host, publicBaseUrl } from "@outreach/process/settings"
import { Config, Context, Effect, Layer, Redacted, Schema } from "effect"
import { DkimKey } from "./dkimKeys.ts"
import { mailFrom } from "./mailFrom.ts"

const smtpUrl = secretSetting(
  "SMTP_URL",
  textSchema("an smtp:// or smtps:// address", (text) => {
    const url = URL.parse(text)
    return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
      ? Redacted.make(text, { label: "SMTP_URL" })
      : undefined
  }),
  {
    about:
      "address of the mail server. `?name=mail.acme.example` sets the EHLO name (default: the machine's name, or `[127.0.0.1]` if it has no dot); it should match [the reverse DNS](deliverability.md#tls-and-names). `requireTLS=true` forbids plain text; by default TLS is used if offered. Certificates must be valid. Without SMTPUTF8, addresses with a non-ASCII local part are rejected ([decision 21](decisions/0021-every-e-mail-address-is-stored-in-one-canonical-form.md)). Optional for the console: without it, it sends no test messages",
  },
)

const dkimKey = secretSetting("DKIM_KEY", noneOr(DkimKey), {
  default: "none",
  isAdvised: true,
  about:
    "key that signs e-mails of `MAIL_FROM` (`openssl genpkey -algorithm RSA -outform DER | base64 -w0`). Publish the public key as TXT record at `outreach._domainkey.<domain of MAIL_FROM>`. Other senders have separate keys (`ops senders`)",
})

/** A domain name or a part of one. */
const DomainName = Schema.String.check(Schema.isPattern(/^([\w-]+(\.[\w-]+)*)?$/)).annotate({
  expected: "a domain name",
})

const bounceDomain = setting("BOUNCE_DOMAIN", DomainName, {
  otherwise: "the domain of `MAIL_FROM`",
  isAdvised: true,
  about:
    "domain of return paths (`bounce-…@`), unsubscribe addresses (`unsubscribe-…@`) and complaint addresses (`abuse@`, `complaints@`, `fbl@`) of senders without a separate one. Forward its mail to `BOUNCE_SMTP_PORT`",
})

const bounceHost = setting("BOUNCE_SMTP_HOST", Host, {
  default: "127.0.0.1",
  isAdvised: true,
  about:
    "address on which the worker receives bounces, complaints and unsubscribe requests by SMTP from your mail server, in plain text. Don't use it across networks that you don't control",
})

const bouncePort = setting(
  "BOUNCE_SMTP_PORT",
  noneOr(wholeNumber(0, 65_535), "none, or a whole number from 0 to 65535"),
  {
    default: "none",
    isAdvised: true,
    about:
      "port on `BOUNCE_SMTP_HOST`; 0 for any free one. With `none`, the worker learns only of immediate rejections, and [e-mails have no unsubscribe address](deliverability.md#unsubscribing-by-mail)",
  },
)

const from = setting("MAIL_FROM", mailFrom, {
  about:
    "sender of e-mails of organizations and programs without a separate sender (`ops senders`); write non-ASCII domains in ASCII. It has no ramp. Optional for the console",
})

/** Settings for sending e-mail: the server, and the deployment's own sender with its keys in the format of `SenderRepository`. */
export const smtpSettings = Config.all({ smtpUrl, from, dkimKey, bounceDomain, bounceHost, bouncePort }).pipe(
  Config.map(({ smtpUrl, from, dkimKey, bounceDomain, bounceHost, bouncePort }) => ({
    smtpUrl,
    bounceHost,
    bouncePort,
    bounceDomain: bounceDomain ?? domainOf(from.address),
    sender: {
      id: null,
      from,
      replyTo: null,
      bounceDomain: null,
      linkDomain: null,
      dkim: dkimKey && { domain: domainOf(from.address), keys: [{ selector: "outreach", ...dkimKey }] },
    },
  })),
)

export type SmtpSettings = Config.Success<typeof smtpSettings>

/** `MAIL_FROM` if it is set, otherwise null. */
export const optionalMailFrom = whereSet(from)

/** Same settings for a process that doesn't send e-mail by itself; null without a server. */
export const optionalSmtpSettings = whereSet(smtpUrl, smtpSettings)

/** Reads the settings that preflight checks. */
export const readPreflightSettings = Effect.gen(function* () {
  const smtp = yield* optionalSmtpSettings
  return { signsMail: smtp === null ? null : smtp.sender.dkim !== null, publicBaseUrl: yield* whereSet(publicBaseUrl) }
})

export const preflightSettings = Layer.effect(PreflightSettings, readPreflightSettings)

const testMailSettings = Effect.gen(function* () {
  return { ...(yield* smtpSettings), publicBaseUrl: yield* publicBaseUrl }
})

/** Reads the settings of test messages; null without a mail server. */
export class TestMailSettings extends Context.Service<
  TestMailSettings,
  Effect.Effect<Effect.Success<typeof testMailSettings> | null, Config.ConfigError>
>()("mail/TestMailSettings") {
  static readonly fromEnvironment = Layer.succeed(TestMailSettings, testMailSettings)
}
