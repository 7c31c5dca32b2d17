import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Html } from "@outreach/process/html"
import { Effect } from "effect"
import PostalMime from "postal-mime"
import { SMTPServer } from "smtp-server"
import { type CaughtMail, MESSAGE_POLICY, mailListPage, mailPage } from "./mailPage.ts"
import { sendPage } from "./page.ts"
import { readLimit, serveHttp } from "./serveHttp.ts"

/** The maximum of messages that are kept. Older messages are only counted, so that memory does not grow with the campaign. */
export const MAX_MAILS = 2000
const MAX_MESSAGE_BYTES = 1_048_576

interface Caught extends Omit<CaughtMail, "from" | "subject"> {
  readonly raw: Buffer
}

const MAX_LISTED = 100

/** Starts an SMTP server that catches messages, and a web page that shows the newest, until the scope closes. Clients other than browsers get JSON. */
export const startMailCatcher = Effect.fnUntraced(function* (options: {
  readonly host: string
  /** Reports whether an address has a mailbox. Other addresses are rejected with 550. */
  readonly hasMailbox: (address: string) => boolean
  /** Called with each message and its recipient. */
  readonly onCaught: (to: string, raw: Buffer) => void
}) {
  const messages: Array<Caught> = []
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
    onData: (stream, session, done) => {
      stream.toArray().then((chunks: Buffer[]) => {
        count += 1
        const raw = Buffer.concat(chunks)
        const to = session.envelope.rcptTo.map(({ address }) => address)
        messages.push({
          id: count,
          receivedAt: new Date().toISOString(),
          returnPath: session.envelope.mailFrom ? session.envelope.mailFrom.address : "",
          to,
          raw,
        })
        if (messages.length > MAX_MAILS) messages.shift()
        for (const address of to) options.onCaught(address, raw)
        done()
      }, done)
    },
  })
  smtp.on("error", () => {})
  yield* Effect.acquireRelease(
    Effect.promise(() => once(smtp.listen(0, options.host), "listening")),
    () => Effect.callback<void>((resume) => void smtp.close(() => resume(Effect.void))),
  )

  const httpPort = yield* serveHttp("The mail catcher", options.host, 0, async (request, response) => {
    const [, id, part] = /^\/message\/(\d+)(\/html)?$/.exec(request.url ?? "") ?? []
    const mail = messages.find((mail) => mail.id === Number(id))
    if (id !== undefined && mail === undefined) response.writeHead(404).end("There is no such message.\n")
    else if (mail !== undefined) {
      const { text, html: body } = await PostalMime.parse(mail.raw)
      if (part) sendPage(response, new Html(`<base target="_blank">${body ?? ""}`), MESSAGE_POLICY)
      else sendPage(response, mailPage(await summarise(mail), text ?? "", mail.raw.toString()))
    } else if (request.headers.accept?.includes("text/html")) {
      const newest = messages.slice(-MAX_LISTED).reverse()
      sendPage(response, mailListPage({ count, max: MAX_MAILS }, await Promise.all(newest.map(summarise))))
    } else {
      const newest = messages.slice(-readLimit(request.url, MAX_MAILS)).reverse()
      const body = JSON.stringify({ count, messages: await Promise.all(newest.map(describe)) })
      response.writeHead(200, { "content-type": "application/json" }).end(body)
    }
  })
  return {
    smtpUrl: `smtp://${options.host}:${(smtp.server.address() as AddressInfo).port}`,
    url: `http://${options.host}:${httpPort}/`,
    count: () => count,
  }
})

const describe = async ({ receivedAt, to, raw }: Caught) => {
  const { messageId, from, subject, text, html } = await PostalMime.parse(raw)
  return { received_at: receivedAt, message_id: messageId, from: from?.address, to, subject, text, html }
}

const summarise = async ({ raw, ...caught }: Caught): Promise<CaughtMail> => {
  const { from, subject } = await PostalMime.parse(raw)
  return { ...caught, from: from?.address ?? "", subject: subject ?? "" }
}
