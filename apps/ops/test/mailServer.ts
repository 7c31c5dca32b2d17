import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { onTestFinished } from "vitest"

/** Starts an SMTP server for the time of a test, which keeps what it takes, or replies with a refusal to every recipient. */
export const mailServer = async (refusal?: { readonly code: number; readonly text: string }) => {
  const messages: Array<{ readonly from: string; readonly to: ReadonlyArray<string>; readonly text: string }> = []
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onRcptTo: (_, __, done) => done(refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code })),
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
