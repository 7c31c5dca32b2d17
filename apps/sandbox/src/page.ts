import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"

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
export const sendPage = (response: ServerResponse, html: string, policy = PAGE_POLICY): void => {
  response
    .writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
    })
    .end(html)
}

/** Renders a whole page; `lead` and `main` are HTML. */
export const page = (options: {
  readonly title: string
  readonly lead: string
  readonly main: string
  /** How often the browser reloads the page; never by default. */
  readonly refreshSeconds?: number
}): string => {
  const { title, lead, main, refreshSeconds } = options
  const refresh = refreshSeconds === undefined ? "" : `<meta http-equiv="refresh" content="${refreshSeconds}">`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><header><h1>${escapeHtml(title)}</h1>${lead}</header><main>${main}</main></body></html>
`
}

/** Renders a table of HTML cells. Without `head`, the first cell of each row is the row's header. Aligns numbers. */
export const table = (
  head: ReadonlyArray<string> | undefined,
  rows: ReadonlyArray<ReadonlyArray<string | number>>,
): string => {
  const cell = (value: string | number, index: number) => {
    if (typeof value === "number") return `<td class="number">${value.toLocaleString("en")}</td>`
    return head === undefined && index === 0 ? `<th scope="row">${value}</th>` : `<td>${value}</td>`
  }
  const thead =
    head === undefined ? "" : `<thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead>`
  return `<table>${thead}<tbody>${rows.map((cells) => `<tr>${cells.map(cell).join("")}</tr>`).join("\n")}</tbody></table>`
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!)
