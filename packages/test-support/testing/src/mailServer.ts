import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { listen } from "./listen.ts"
import { Changes } from "./until.ts"

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

type Stage = "connect" | "from" | "rcpt" | "data"

const rejection = (reply: string) =>
  Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

/**
 * Starts an SMTP server until the end of the test, or until `atEnd` calls back. It stores accepted messages, after `accepting`. It rejects with a
 * reply at a stage, or by the recipient's domain while `replies` has one.
 */
export const mailServer = async (
  rejected?: { readonly at: Stage; readonly reply: string },
  accepting: (message: ReceivedMail) => Promise<void> = async () => {},
  atEnd?: (end: () => Promise<void>) => void,
) => {
  const changes = new Changes()
  const messages: ReceivedMail[] = []
  const replies = new Map<string, string>()
  const at = (stage: Stage) => (rejected?.at === stage ? rejection(rejected.reply) : null)
  let connections = 0
  const options: SMTPServerOptions = {
    disabledCommands: ["AUTH", "STARTTLS"],
    onConnect: (_, done) => {
      connections += 1
      changes.announce()
      done(at("connect"))
    },
    onMailFrom: (_, __, done) => done(at("from")),
    onRcptTo: ({ address }, _, done) => {
      const reply = replies.get(address.slice(address.lastIndexOf("@") + 1))
      done(reply === undefined ? at("rcpt") : rejection(reply))
    },
    onData: (stream, { envelope }, done) => {
      const accept = async () => {
        const chunks = await stream.toArray()
        const error = at("data")
        if (error !== null) return error
        const message = {
          from: typeof envelope.mailFrom === "object" ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map((recipient) => recipient.address),
          text: Buffer.concat(chunks).toString(),
        }
        messages.push(message)
        changes.announce()
        await accepting(message)
        return null
      }
      // A killed sender leaves half a message.
      accept().then(done, done)
    },
  }
  const server = new SMTPServer(options)
  // A connection that a killed sender resets is no error here.
  server.on("error", () => {})
  const port = await listen(server.server, atEnd)
  return { url: `smtp://127.0.0.1:${port}`, changes, messages, replies, connections: () => connections }
}
