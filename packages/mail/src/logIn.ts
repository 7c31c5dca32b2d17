import { DescribedError } from "@outreach/domain/DescribedError"
import { Effect, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { describeSmtpFailure } from "./SmtpError.ts"
import { type SmtpOptions, SmtpSession } from "./SmtpSession.ts"

export class LoginFailed extends DescribedError(
  "LoginFailed",
  ({ reason }: { readonly reason: string }) => `The SMTP server rejected the login: ${reason}.`,
) {}

const TIMEOUTS = { connectMs: 5000, replyMs: 5000, dataMs: 5000, blockMs: 5000, finalMs: 5000 }

/** Connects to the SMTP server and logs in without sending a message. Returns the reached step. */
export const logIn = (url: Redacted.Redacted) =>
  Effect.tryPromise({
    try: async () => {
      const options = parseConnectionUrl(Redacted.value(url)) as SmtpOptions
      const session = await SmtpSession.open(options, TIMEOUTS)
      const { isEncrypted, isLoggedIn } = session
      session.quit()
      const { auth, host = "localhost" } = options
      return { isEncrypted, isLoggedIn, hasCredentials: auth !== undefined, host }
    },
    catch: (error) => new LoginFailed({ reason: describeSmtpFailure(error) }),
  })
