import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { logIn } from "@outreach/mail/SmtpTransport"
import type { SmtpSettings } from "@outreach/mail/smtpSettings"
import { Effect } from "effect"

/** Logs in to the mail server as for a message, without sending one. */
export const smtpFinding = ({ smtpUrl }: SmtpSettings) =>
  logIn(smtpUrl).pipe(
    Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.fail({ code: "it took too long" }) }),
    Effect.mapError(({ code }) =>
      failed(
        `The mail server rejects the connection or the login: ${code}.`,
        "Check SMTP_URL; see docs/on-call.md#outreachmailserverrejects.",
      ),
    ),
    Effect.map(({ isEncrypted, isLoggedIn, hasCredentials, host }) => {
      if (hasCredentials && !isLoggedIn) {
        return failed(
          "The mail server offers no login for the user of SMTP_URL.",
          "Name the port for submission (587 or 465) in SMTP_URL, or remove the user.",
        )
      }
      const said = `The mail server responds${isLoggedIn ? ", and the login succeeds" : ""}; the connection is ${isEncrypted ? "" : "not "}encrypted.`
      const isLocal = /^(?:localhost|127\..*|::1)$/.test(host)
      return isEncrypted || isLocal ? ok(said) : warning(said, "Use smtps://, or a server that offers STARTTLS.")
    }),
  )
