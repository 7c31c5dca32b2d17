import { type Html, html } from "@outreach/process/html"
import { page, table } from "./page.ts"

export interface CaughtMail {
  readonly id: number
  readonly receivedAt: string
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly returnPath: string
  readonly subject: string
}

/** The content security policy of a message: it loads images, as in a mail program, so that viewing it counts as an opening. Scripts do not run. */
export const MESSAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; sandbox allow-popups allow-popups-to-escape-sandbox"

/** Renders the list of the newest messages. `count` messages were caught, and at most `max` of them are kept. */
export const mailListPage = (
  { count, max }: { readonly count: number; readonly max: number },
  messages: ReadonlyArray<CaughtMail>,
): Html => {
  const rows = messages.map(({ id, receivedAt, to, subject }) => [
    receivedAt.slice(11, 19),
    to.join(", "),
    html`<a href="/message/${id}">${subject || "(no subject)"}</a>`,
  ])
  const number = (value: number) => value.toLocaleString("en")
  return page({
    title: "Mail catcher",
    refreshSeconds: 5,
    lead: html`<p>Catches every e-mail of the sandbox; none leaves this machine. ${number(count)} ${count === 1 ? "message" : "messages"} caught since the start.
The newest ${number(max)} are kept in memory until the sandbox stops, and the newest ${number(messages.length)} are listed here.</p>
<p>Opening a message loads its images, and so counts as an opening. This page reloads every 5 seconds.</p>`,
    main: rows.length === 0 ? html`<p>None yet.</p>` : table(["Time (UTC)", "To", "Subject"], rows),
  })
}

/** Renders the page of one message: its envelope, its HTML in a frame, its text, and its source. */
export const mailPage = (mail: CaughtMail, text: string, source: string): Html => {
  const fields = [
    ["From", mail.from],
    ["To", mail.to.join(", ")],
    ["Return path", mail.returnPath],
    ["Received", mail.receivedAt],
  ]
  return page({
    title: mail.subject || "(no subject)",
    lead: html`<p><a href="/">All messages</a></p>`,
    main: html`${table(undefined, fields)}
<iframe src="/message/${mail.id}/html" title="The message as HTML"></iframe>
<h2>As text</h2><pre>${text}</pre>
<details><summary>Source</summary><pre>${source}</pre></details>`,
  })
}
