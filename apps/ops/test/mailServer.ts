import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { onTestFinished } from "vitest"

/** Starts an SMTP server for the time of a test. It keeps the messages, or rejects every recipient with `rejection`. */
export const mailServer = async (rejection?: { readonly code: number; readonly text: string }) => {
  const messages: Array<{ readonly from: string; readonly to: ReadonlyArray<string>; readonly text: string }> = []
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onRcptTo: (_, __, done) =>
      done(rejection && Object.assign(new Error(rejection.text), { responseCode: rejection.code })),
    onData: (stream, { envelope }, done) => {
      stream.toArray().then((chunks) => {
        messages.push({
          from: typeof envelope.mailFrom === "object" ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        })
        done()
      }, done)
    },
  })
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())))
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, messages }
}
