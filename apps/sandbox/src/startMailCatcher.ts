import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import PostalMime from "postal-mime"
import { SMTPServer } from "smtp-server"
import { readLimit, serveHttp } from "./serveHttp.ts"

/** How many messages are kept; older ones are counted only, so that memory does not grow with the campaign. */
const KEPT = 2000
const LARGEST = 1_048_576

/** Takes every message on an SMTP server of its own, and lists the newest as JSON over HTTP, until the scope closes. */
export const startMailCatcher = Effect.gen(function* () {
  const kept: Array<{ readonly receivedAt: string; readonly to: ReadonlyArray<string>; readonly raw: Buffer }> = []
  let count = 0

  const smtp = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: LARGEST,
    closeTimeout: 500,
    onData: (stream, session, done) => {
      stream.toArray().then((chunks: Buffer[]) => {
        count += 1
        kept.push({
          receivedAt: new Date().toISOString(),
          to: session.envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks),
        })
        if (kept.length > KEPT) kept.shift()
        done()
      }, done)
    },
  })
  smtp.on("error", () => {})
  yield* Effect.acquireRelease(
    Effect.promise(() => once(smtp.listen(0, "127.0.0.1"), "listening")),
    () => Effect.callback<void>((resume) => void smtp.close(() => resume(Effect.void))),
  )

  const read = async ({ receivedAt, to, raw }: (typeof kept)[number]) => {
    const { messageId, from, subject, text, html } = await PostalMime.parse(raw)
    return { received_at: receivedAt, message_id: messageId, from: from?.address, to, subject, text, html }
  }
  const httpPort = yield* serveHttp("The mail catcher", 0, async (request, response) => {
    const newest = kept.slice(-readLimit(request.url, KEPT)).reverse()
    const body = JSON.stringify({ count, messages: await Promise.all(newest.map(read)) })
    response.writeHead(200, { "content-type": "application/json" }).end(body)
  })
  return {
    smtpUrl: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    url: `http://127.0.0.1:${httpPort}/`,
    count: () => count,
  }
})
