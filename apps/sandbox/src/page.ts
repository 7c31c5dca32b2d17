import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Html, html, type Part } from "@outreach/process/html"

const STYLE = `
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1d2329; background: #f6f7f8 }
header, main { max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem }
h1 { font-size: 1.25rem; margin: 0 }
h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem }
p { margin: .25rem 0; color: #4c5660 }
table { width: 100%; border-collapse: collapse; background: #fff; border: 1px solid #d8dde2 }
th, td { text-align: left; padding: .4rem .75rem; border-bottom: 1px solid #e6e9ec; vertical-align: top; overflow-wrap: break-word }
th { font-weight: 600; color: #4c5660; white-space: nowrap }
td.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: .9em }
a { color: #0a5bd3 }
iframe { width: 100%; height: 28rem; border: 1px solid #d8dde2; background: #fff; margin-top: 1rem; box-sizing: border-box }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #fff; border: 1px solid #d8dde2; padding: 1rem; margin: 0 }
`

/** The content security policy of a page: it loads only its own style and frames. */
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; frame-src 'self'; base-uri 'none'; form-action 'none'`

/** Sends a page with its content security policy. */
export const sendPage = (response: ServerResponse, page: Html, policy = PAGE_POLICY): void => {
  response
    .writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
    })
    .end(page.markup)
}

/** Renders a whole page. */
export const page = (options: {
  readonly title: string
  readonly lead: Part
  readonly main: Part
  /** How often the browser reloads the page; never by default. */
  readonly refreshSeconds?: number
}): Html => {
  const { title, lead, main, refreshSeconds } = options
  const refresh = refreshSeconds === undefined ? "" : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><header><h1>${title}</h1>${lead}</header><main>${main}</main></body></html>
`
}

/** Renders a table. Without `head`, the first cell of each row is the row's header. Aligns numbers. */
export const table = (head: ReadonlyArray<string> | undefined, rows: ReadonlyArray<ReadonlyArray<Part>>): Html => {
  const cell = (value: Part, index: number) => {
    if (typeof value === "number") return html`<td class="number">${value.toLocaleString("en")}</td>`
    return head === undefined && index === 0 ? html`<th scope="row">${value}</th>` : html`<td>${value}</td>`
  }
  const names = head?.map((name) => html`<th scope="col">${name}</th>`)
  const thead = names === undefined ? "" : html`<thead><tr>${names}</tr></thead>`
  return html`<table>${thead}<tbody>${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>\n`)}</tbody></table>`
}
