import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { listen } from "./listen.ts"
import type { AtEnd } from "./startProcess.ts"
import { Changes } from "./until.ts"

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

interface MailServerOptions {
  /** The stage at which it rejects with `reply`. Default: none. */
  readonly at?: "connect" | "from" | "rcpt" | "data"
  readonly reply?: string
  /** Runs after a message is stored and before it is accepted. */
  readonly accepting?: (message: ReceivedMail) => Promise<void>
  readonly atEnd?: AtEnd
}

const rejection = (reply: string) =>
  Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

/**
 * Starts an SMTP server until the end of the test, or until `atEnd` calls back. It stores accepted messages. It also rejects recipients of a
 * domain while `replies` has a reply for it.
 */
export const mailServer = async ({ at, reply = "", accepting, atEnd }: MailServerOptions = {}) => {
  const changes = new Changes()
  const messages: ReceivedMail[] = []
  const replies = new Map<string, string>()
  const errorAt = (stage: typeof at) => (stage === at ? rejection(reply) : null)
  let connections = 0
  const options: SMTPServerOptions = {
    disabledCommands: ["AUTH", "STARTTLS"],
    onConnect: (_, done) => {
      connections += 1
      changes.announce()
      done(errorAt("connect"))
    },
    onMailFrom: (_, __, done) => done(errorAt("from")),
    onRcptTo: ({ address }, _, done) => {
      const ofDomain = replies.get(address.slice(address.lastIndexOf("@") + 1))
      done(ofDomain === undefined ? errorAt("rcpt") : rejection(ofDomain))
    },
    onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      const accept = async () => {
        const text = Buffer.concat(await stream.toArray()).toString()
        const error = errorAt("data")
        if (error !== null) return error
        const message = { from: mailFrom ? mailFrom.address : "", to: rcptTo.map(({ address }) => address), text }
        messages.push(message)
        changes.announce()
        await accepting?.(message)
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
