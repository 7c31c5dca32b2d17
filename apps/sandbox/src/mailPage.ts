import { type Html, html } from "@outreach/process/html"
import type { Email } from "postal-mime"
import { page, table } from "./page.ts"

export interface CaughtMail {
  readonly id: number
  readonly receivedAt: string
  readonly to: ReadonlyArray<string>
  readonly returnPath: string
  readonly source: string
  readonly content: Email
}

/** The content security policy of a message: it loads images, as in a mail program, so that viewing it counts as an opening. Scripts do not run. */
export const MESSAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; sandbox allow-popups allow-popups-to-escape-sandbox"

/** Renders the list of the newest messages. `count` messages were caught, and at most `max` of them are kept. */
export const mailListPage = (
  { count, max }: { readonly count: number; readonly max: number },
  messages: ReadonlyArray<CaughtMail>,
): Html => {
  const rows = messages.map(({ id, receivedAt, to, content }) => [
    receivedAt.slice(11, 19),
    to.join(", "),
    html`<a href="/message/${id}">${content.subject || "(no subject)"}</a>`,
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
export const mailPage = ({ id, receivedAt, to, returnPath, source, content }: CaughtMail): Html => {
  const fields = [
    ["From", content.from?.address ?? ""],
    ["To", to.join(", ")],
    ["Return path", returnPath],
    ["Received", receivedAt],
  ]
  return page({
    title: content.subject || "(no subject)",
    lead: html`<p><a href="/">All messages</a></p>`,
    main: html`${table(undefined, fields)}
<iframe src="/message/${id}/html" title="The message as HTML"></iframe>
<h2>As text</h2><pre>${content.text ?? ""}</pre>
<details><summary>Source</summary><pre>${source}</pre></details>`,
  })
}
