/** A caught message, as the page lists it. */
export interface CaughtMail {
  readonly id: number
  readonly receivedAt: string
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly returnPath: string
  readonly subject: string
}

/** What a page may load: a message its images, as in a mail program, so that looking at it opens it; it runs nothing. */
export const CONTENT_POLICY = {
  page: "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'",
  message:
    "default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; sandbox allow-popups allow-popups-to-escape-sandbox",
} as const

const STYLE = `
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1d2329; background: #f6f7f8 }
header, main { max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem }
h1 { font-size: 1.25rem; margin: 0 }
p { margin: .25rem 0; color: #4c5660 }
table { width: 100%; border-collapse: collapse; background: #fff; border: 1px solid #d8dde2 }
th, td { text-align: left; padding: .4rem .75rem; border-bottom: 1px solid #e6e9ec; vertical-align: top; overflow-wrap: anywhere }
th { font-weight: 600; color: #4c5660 }
a { color: #0a5bd3 }
iframe { width: 100%; height: 28rem; border: 1px solid #d8dde2; background: #fff; margin-top: 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #fff; border: 1px solid #d8dde2; padding: 1rem }
`

/** Writes the page that lists the newest messages. */
export const mailListPage = (count: number, messages: ReadonlyArray<CaughtMail>): string => {
  const rows = messages.map(
    ({ id, receivedAt, to, subject }) =>
      `<tr><td>${escapeHtml(receivedAt.slice(11, 19))}</td><td>${escapeHtml(to.join(", "))}</td><td><a href="/message/${id}">${escapeHtml(subject) || "(no subject)"}</a></td></tr>`,
  )
  const table =
    rows.length === 0
      ? "<p>None yet.</p>"
      : `<table><thead><tr><th scope="col">Time (UTC)</th><th scope="col">To</th><th scope="col">Subject</th></tr></thead><tbody>${rows.join("\n")}</tbody></table>`
  return layOut(
    "Caught mail",
    `<p>${count} ${count === 1 ? "message" : "messages"} caught; the newest ${messages.length} are listed. <a href="/">Look again</a></p>`,
    table,
  )
}

/** Writes the page of one message: its envelope, its HTML in a frame of its own, its text, and its source. */
export const mailPage = (mail: CaughtMail, text: string, source: string): string => {
  const fields = [
    ["From", mail.from],
    ["To", mail.to.join(", ")],
    ["Return path", mail.returnPath],
    ["Received", mail.receivedAt],
  ]
  const table = fields
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${escapeHtml(value!)}</td></tr>`)
    .join("\n")
  return layOut(
    mail.subject || "(no subject)",
    `<p><a href="/">All messages</a></p>`,
    `<table><tbody>${table}</tbody></table>
<iframe src="/message/${mail.id}/html" title="The message as HTML"></iframe>
<h2>As text</h2><pre>${escapeHtml(text)}</pre>
<details><summary>Source</summary><pre>${escapeHtml(source)}</pre></details>`,
  )
}

const layOut = (title: string, lead: string, main: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><header><h1>${escapeHtml(title)}</h1>${lead}</header><main>${main}</main></body></html>
`

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!)
