import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Html } from "@outreach/process/html"
import { Effect } from "effect"
import PostalMime, { type Email } from "postal-mime"
import { SMTPServer } from "smtp-server"
import { type CaughtMail, MESSAGE_POLICY, mailListPage, mailPage } from "./mailPage.ts"
import { sendPage } from "./page.ts"
import { serveHttp } from "./serveHttp.ts"

/** The maximum of messages that are kept. Older messages are only counted, so that memory does not grow with the campaign. */
export const MAX_MAILS = 2000
const MAX_MESSAGE_BYTES = 1_048_576

const MAX_LISTED = 100

/** Starts an SMTP server that catches messages, and a web page that shows the newest, until the scope closes. Clients other than browsers get JSON. */
export const startMailCatcher = Effect.fnUntraced(function* (options: {
  readonly host: string
  /** Reports whether an address has a mailbox. Other addresses are rejected with 550. */
  readonly hasMailbox: (address: string) => boolean
  /** Called with each message and its recipient. */
  readonly onCaught: (to: string, content: Email) => void
}) {
  const messages: Array<CaughtMail> = []
  let count = 0

  const smtp = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: MAX_MESSAGE_BYTES,
    closeTimeout: 500,
    onRcptTo: ({ address }, _session, done) =>
      options.hasMailbox(address)
        ? done()
        : done(Object.assign(new Error("5.1.1 There is no such mailbox"), { responseCode: 550 })),
    onData: (stream, { envelope }, done) => {
      const receive = async () => {
        const source = Buffer.concat(await stream.toArray())
        const content = await PostalMime.parse(source)
        const to = envelope.rcptTo.map(({ address }) => address)
        const returnPath = envelope.mailFrom ? envelope.mailFrom.address : ""
        count += 1
        const receivedAt = new Date().toISOString()
        messages.push({ id: count, receivedAt, returnPath, to, source: source.toString(), content })
        if (messages.length > MAX_MAILS) messages.shift()
        for (const address of to) options.onCaught(address, content)
      }
      receive().then(() => done(), done)
    },
  })
  smtp.on("error", () => {})
  yield* Effect.acquireRelease(
    Effect.promise(() => once(smtp.listen(0, options.host), "listening")),
    () => Effect.callback<void>((resume) => void smtp.close(() => resume(Effect.void))),
  )

  const httpPort = yield* serveHttp(options.host, 0, "--port", (request, response) => {
    const [, id, part] = /^\/message\/(\d+)(\/html)?$/.exec(request.url ?? "") ?? []
    const mail = messages.find((mail) => mail.id === Number(id))
    if (id !== undefined && mail === undefined) response.writeHead(404).end("There is no such message.\n")
    else if (mail !== undefined) {
      if (part) sendPage(response, new Html(`<base target="_blank">${mail.content.html ?? ""}`), MESSAGE_POLICY)
      else sendPage(response, mailPage(mail))
    } else if (request.headers.accept?.includes("text/html")) {
      sendPage(response, mailListPage({ count, max: MAX_MAILS }, messages.slice(-MAX_LISTED).reverse()))
    } else {
      const body = JSON.stringify({ count, messages: messages.toReversed().map(describe) })
      response.writeHead(200, { "content-type": "application/json" }).end(body)
    }
  })
  return {
    smtpUrl: `smtp://${options.host}:${(smtp.server.address() as AddressInfo).port}`,
    url: `http://${options.host}:${httpPort}/`,
    count: () => count,
  }
})

const describe = ({ receivedAt, to, content }: CaughtMail) => {
  const { messageId, from, subject, text, html } = content
  return { received_at: receivedAt, message_id: messageId, from: from?.address, to, subject, text, html }
}
