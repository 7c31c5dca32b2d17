import { type DefaultTreeAdapterTypes, parse } from "parse5"

/**
 * Wraps the HTML of a template in a simple layout that fits every screen, with a footer of what each e-mail must show. Of a whole document
 * it takes the body and the styles.
 */
export const wrapInPlainLayout = (html: string): string => {
  const { content, styles } = readDocument(html)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{ program_name }}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
a { color: #0b57a4; }
@media (max-width: 480px) {
  .plain-body { padding: 20px 16px !important; }
}
@media (prefers-color-scheme: dark) {
  .plain-page, .plain-body { background-color: #16191d !important; color: #e6e9ed !important; }
  .plain-footer { color: #aab2bb !important; border-color: #3a4149 !important; }
  a { color: #8ec1ff; }
}
</style>
${styles}</head>
<body class="plain-page" style="margin:0;padding:0;background-color:#ffffff;color:#1c2229;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="plain-page" style="background-color:#ffffff;">
<tr><td align="center">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;">
<tr><td align="left" class="plain-body" style="padding:32px 24px;background-color:#ffffff;color:#1c2229;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5;">
${content}
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
}

/** Adds the same footer to a text part. */
export const addPlainFooter = (text: string): string => `${text.trimEnd()}

--${" "}
You get this e-mail about {{ program_name }} from {{ sender_name }}, {{ postal_address }}.
Unsubscribe: {{ unsubscribe_url }}
`

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
