import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { listen } from "./listen.ts"

type Stage = "connect" | "from" | "rcpt" | "data"

const refusal = (reply: string) => Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

/** A mail server that answers with a reply at a stage, and keeps the messages that it takes; `taking` happens before it says so. */
export const mailServer = async (
  answer?: { readonly at: Stage; readonly reply: string },
  taking: () => Promise<void> = async () => {},
) => {
  const messages: { readonly from: string; readonly to: readonly string[]; readonly text: string }[] = []
  const at = (stage: Stage) => (answer?.at === stage ? refusal(answer.reply) : null)
  let connections = 0
  const options: SMTPServerOptions = {
    disabledCommands: ["AUTH", "STARTTLS"],
    onConnect: (_, done) => {
      connections += 1
      done(at("connect"))
    },
    onMailFrom: (_, __, done) => done(at("from")),
    onRcptTo: (_, __, done) => done(at("rcpt")),
    onData: (stream, { envelope }, done) => {
      const take = async () => {
        const chunks = await stream.toArray()
        const refused = at("data")
        if (refused !== null) return refused
        messages.push({
          from: typeof envelope.mailFrom === "object" ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map((recipient) => recipient.address),
          text: Buffer.concat(chunks).toString(),
        })
        await taking()
        return null
      }
      // A sender that is killed leaves half a message.
      take().then(done, done)
    },
  }
  const server = new SMTPServer(options)
  // A connection that its sender's end resets is not an error of this server's.
  server.on("error", () => {})
  const port = await listen(server.server)
  return { url: `smtp://127.0.0.1:${port}`, messages, connections: () => connections }
}
