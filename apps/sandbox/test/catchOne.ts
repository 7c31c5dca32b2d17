import { Deferred, Effect } from "effect"
import { createTransport } from "nodemailer"
import { onTestFinished } from "vitest"
import { startMailCatcher } from "../src/startMailCatcher.ts"

/** Starts a mail catcher and sends it one message. */
export const catchOne = async (html: string) => {
  const started = Deferred.makeUnsafe<Effect.Success<ReturnType<typeof startMailCatcher>>>()
  const catcher = startMailCatcher({
    host: "127.0.0.1",
    hasMailbox: (address) => !address.startsWith("nobody@"),
    onCaught: () => {},
  })
  const stop = new AbortController()
  const over = Effect.runPromiseExit(
    Effect.scoped(
      Effect.flatMap(catcher, (catcher) => Effect.andThen(Deferred.succeed(started, catcher), Effect.never)),
    ),
    { signal: stop.signal },
  )
  onTestFinished(async () => {
    stop.abort()
    await over
  })
  const { url, smtpUrl } = await Effect.runPromise(Deferred.await(started))
  const transport = createTransport({ url: smtpUrl })
  await transport.sendMail({
    envelope: { from: "bounce-1@sandbox.test", to: "dana@clinic.test" },
    from: "Acme <outreach@sandbox.test>",
    to: "dana@clinic.test",
    subject: "An <b>invitation</b> – Einladung",
    text: "Good morning",
    html,
  })
  transport.close()
  return { url, smtpUrl }
}
