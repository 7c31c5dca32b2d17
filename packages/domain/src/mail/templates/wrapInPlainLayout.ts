import { type DefaultTreeAdapterTypes, parse } from "parse5"
import type { MessageTemplate } from "../Message.ts"

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{ program_name }}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { width: 100% !important; -webkit-text-size-adjust: 100%; }
a { color: #0b57a4; text-decoration: underline; }
img { max-width: 100%; border: 0; }
.plain-body p, .plain-body ul, .plain-body ol { margin: 0 0 16px; }
.plain-body li { margin: 0 0 8px; }
.plain-body h1 { margin: 0 0 16px; font-size: 28px; line-height: 1.25; }
.plain-body h2 { margin: 24px 0 12px; font-size: 22px; line-height: 1.3; }
.plain-body h3 { margin: 20px 0 8px; font-size: 18px; line-height: 1.35; }
.plain-body hr { margin: 24px 0; border: 0; border-top: 1px solid #d5dae0; }
.plain-body blockquote { margin: 0 0 16px; padding: 0 0 0 16px; border-left: 3px solid #d5dae0; }
.plain-body td, .plain-body th { padding: 4px 12px 4px 0; vertical-align: top; text-align: left; }
.button { display: inline-block; padding: 12px 28px; background-color: #0b57a4; border-radius: 6px; color: #ffffff; font-weight: 600; text-decoration: none; }
@media (max-width: 480px) {
  .plain-body { padding: 20px 16px !important; }
  .plain-body h1 { font-size: 24px; }
  .plain-body h2 { font-size: 20px; }
  .button { display: block; text-align: center; }
}
@media (prefers-color-scheme: dark) {
  .plain-page, .plain-body { background-color: #16191d !important; color: #e6e9ed !important; }
  .plain-footer { color: #aab2bb !important; border-color: #3a4149 !important; }
  .plain-body hr, .plain-body blockquote { border-color: #3a4149; }
  .button { background-color: #8ec1ff; color: #06233f; }
  a { color: #8ec1ff; }
}
</style>
`

const BODY = `</head>
<body class="plain-page" style="margin:0;padding:0;background-color:#ffffff;color:#1c2229;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="plain-page" style="background-color:#ffffff;">
<tr><td align="center">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;">
<tr><td align="left" class="plain-body" style="padding:32px 24px;background-color:#ffffff;color:#1c2229;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5;">
`

const FOOTER = `
<p class="plain-footer" style="margin:32px 0 0;padding-top:16px;border-top:1px solid #d5dae0;color:#59636e;font-size:13px;line-height:1.5;">
You get this e-mail about {{ program_name }} from {{ sender_name }}, {{ postal_address }}.<br>
<a href="{{ unsubscribe_url }}">Unsubscribe</a>
</p>
</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</body>
</html>
`

const TEXT_FOOTER = `

--${" "}
You get this e-mail about {{ program_name }} from {{ sender_name }}, {{ postal_address }}.
Unsubscribe: {{ unsubscribe_url }}
`

/**
 * Wraps a template's HTML in a simple responsive layout, with a footer that contains the required details. Links with the class
 * `button` are styled as buttons. For a whole document, uses its body and styles.
 *
 * Longer than 3,200 bytes: SpamAssassin adds up to 2.8 points to shorter HTML with an image, such as the pixel.
 */
export const wrapInPlainLayout = (html: string): string => {
  const { content, styles } = readDocument(html)
  return HEAD + styles + BODY + content + FOOTER
}

export const addPlainFooter = (text: string): string => text.trimEnd() + TEXT_FOOTER

/** Returns the layout of a campaign's body, and the HTML and text as they were written without it. */
export const readLayout = ({ html, text }: Pick<MessageTemplate, "html" | "text">) => {
  const isFooted = text === null || text.endsWith(TEXT_FOOTER)
  if (html.startsWith(HEAD) && html.endsWith(FOOTER) && isFooted) {
    const [styles = "", ...contents] = html.slice(HEAD.length, -FOOTER.length).split(BODY)
    const written = styles + contents.join(BODY)
    if (wrapInPlainLayout(written) === html) {
      return { layout: "plain" as const, html: written, text: text?.slice(0, -TEXT_FOOTER.length) ?? null }
    }
  }
  return { layout: "none" as const, html, text }
}

const readDocument = (html: string) => {
  const document = parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false })
  const root = document.childNodes.find(isElement)!
  const [head, body] = root.childNodes.filter(isElement) as [
    DefaultTreeAdapterTypes.Element,
    DefaultTreeAdapterTypes.Element,
  ]
  const begin = body.sourceCodeLocation?.startTag?.endOffset ?? body.childNodes[0]?.sourceCodeLocation?.startOffset
  const end = body.sourceCodeLocation?.endTag?.startOffset ?? root.sourceCodeLocation?.endTag?.startOffset
  const styles = head.childNodes.flatMap((node) => {
    const place = node.nodeName === "style" ? node.sourceCodeLocation : undefined
    return place ? [`${html.slice(place.startOffset, place.endOffset)}\n`] : []
  })
  return { content: html.slice(begin, end).trim(), styles: styles.join("") }
}

const isElement = (node: DefaultTreeAdapterTypes.Node): node is DefaultTreeAdapterTypes.Element => "tagName" in node
