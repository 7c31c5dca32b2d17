import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { logIn } from "@outreach/mail/SmtpTransport"
import type { smtpSettings } from "@outreach/mail/smtpSettings"
import { type Config, Effect } from "effect"

type SmtpSettings = Config.Success<typeof smtpSettings>

const SMTP_MS = 20_000

/** Logs in to the mail server as for a message, without sending one. */
export const smtpFinding = ({ smtpUrl }: SmtpSettings) =>
  logIn(smtpUrl).pipe(
    Effect.timeout(SMTP_MS),
    Effect.mapError((error) =>
      failed(
        `The mail server rejects the connection or the login: ${error._tag === "LoginFailed" ? error.reason : "it took too long"}.`,
        "Check SMTP_URL; see docs/on-call.md#outreachmailserverrejects.",
      ),
    ),
    Effect.flatMap(({ isEncrypted, isLoggedIn, hasCredentials, host }) => {
      if (hasCredentials && !isLoggedIn) {
        return Effect.fail(
          failed(
            "The mail server offers no login for the user of SMTP_URL.",
            "Name the port for submission (587 or 465) in SMTP_URL, or remove the user.",
          ),
        )
      }
      const said = `The mail server responds${isLoggedIn ? ", and the login succeeds" : ""}; the connection is ${isEncrypted ? "" : "not "}encrypted.`
      const isLocal = /^(?:localhost|127\..*|::1)$/.test(host)
      return Effect.succeed(
        isEncrypted || isLocal ? ok(said) : warning(said, "Use smtps://, or a server that offers STARTTLS."),
      )
    }),
  )
