import type { Resolver } from "node:dns/promises"
import { isPublicAddress } from "@outreach/domain/deliveries/isPublicAddress"
import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { query } from "@outreach/mail/dnsFindings"
import { logIn } from "@outreach/mail/logIn"
import type { smtpSettings } from "@outreach/mail/smtpSettings"
import { type Config, Effect } from "effect"

type SmtpSettings = Config.Success<typeof smtpSettings>

const SMTP_MS = 20_000

/** Logs in to the mail server as for a message, and sends none; and looks up the name that it was greeted with. */
export const smtpFindings = (resolver: Resolver, { smtpUrl }: SmtpSettings) =>
  logIn(smtpUrl).pipe(
    Effect.timeout(SMTP_MS),
    Effect.mapError((error) =>
      failed(
        `The mail server does not let us in: ${error._tag === "LoginFailed" ? error.reason : "it took too long"}.`,
        "Check SMTP_URL; see docs/on-call.md#outreachmailserverrejects.",
      ),
    ),
    Effect.flatMap((session) => {
      const { isEncrypted, isLoggedIn, hasCredentials, host } = session
      if (hasCredentials && !isLoggedIn) {
        return Effect.fail(
          failed(
            "The mail server answers, and offers no login that SMTP_URL's user could use.",
            "Name the port for submission (587 or 465) in SMTP_URL, or remove the user.",
          ),
        )
      }
      const said = `The mail server answers${isLoggedIn ? ", and the login succeeds" : ""}; the connection is ${isEncrypted ? "" : "not "}encrypted.`
      // A server on this machine shows others its own name.
      if (/^(?:localhost|127\..*|::1)$/.test(host)) return Effect.succeed([ok(said)])
      return Effect.map(Effect.catch(greetingFinding(resolver, session), Effect.succeed), (greeting) => [
        isEncrypted ? ok(said) : warning(said, "Use smtps://, or a server that offers STARTTLS."),
        greeting,
      ])
    }),
  )

/** Compares the name that the mail server is greeted with (RFC 5321 4.1.4) to the names of the address that it sees. */
export const greetingFinding = Effect.fnUntraced(function* (
  resolver: Resolver,
  { name, localAddress }: { readonly name: string; readonly localAddress: string },
) {
  const greeting = `The mail server is greeted as ${name},`
  const advice =
    "Set name in SMTP_URL to the reverse name of the address that e-mails leave from, and have it lead there."
  if (name.startsWith("[")) return warning(`${greeting} which is not a name.`, advice)
  const found = yield* Effect.all([
    query(name, () => resolver.resolve4(name)),
    query(name, () => resolver.resolve6(name)),
  ])
  const addresses = found.flatMap((each) => each ?? [])
  if (addresses.length === 0) return warning(`${greeting} which has no address.`, advice)
  const isKnown = isPublicAddress(localAddress)
  if (isKnown && !addresses.includes(localAddress)) {
    return warning(`${greeting} which does not lead to ${localAddress}, from where the connection comes.`, advice)
  }
  const address = isKnown ? localAddress : addresses[0]!
  const names = (yield* query(address, () => resolver.reverse(address))) ?? []
  if (!names.some((each) => each.toLowerCase() === name.toLowerCase())) {
    return warning(`${greeting} and the reverse name of ${address} is ${names.join(", ") || "missing"}.`, advice)
  }
  return ok(
    `${greeting} the reverse name of ${address}${isKnown ? "" : `. The connection comes from the private address ${localAddress}, so the server alone knows which address it sees`}.`,
  )
})
