import { createHash } from "node:crypto"
import { Html, html, type Part } from "@outreach/process/html"
import { HttpServerResponse } from "effect/http"

const STYLE = `:root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}
body{margin:0;padding:12vh 1.5rem 3rem}
main{max-width:32rem;margin:auto}
h1{margin:0 0 1rem;font-size:1.75rem;line-height:1.2}
button{margin-top:.5rem;padding:.75rem 1.5rem;border:0;border-radius:.375rem;background:#0b57a4;color:#fff;font:inherit;cursor:pointer}
form{display:flex;flex-wrap:wrap;gap:.75rem}
form button{flex:auto}
button.second{background:transparent;color:inherit;box-shadow:inset 0 0 0 1px currentcolor}
b{font-weight:600;overflow-wrap:anywhere}
button:focus-visible{outline:3px solid #e07b00;outline-offset:3px}`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

/** Headers of all pages about a message: personal, not cached. */
export const PERSONAL = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex, nofollow",
} as const

/** Renders a page for a recipient who followed a link. */
export const htmlPage = (status: number, title: string, content: Part): HttpServerResponse.HttpServerResponse => {
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
  return HttpServerResponse.text(markup, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: { ...PERSONAL, "Content-Security-Policy": POLICY },
  })
}

/** Response to a link that isn't ours. */
export const UNKNOWN_LINK = htmlPage(
  404,
  "This link is not valid",
  html`<p>It is incomplete, or was changed on its way. Please open it from the e-mail again.</p>`,
)
