/** The maximum of SMTP connections of each candidate. */
export const MAX_IN_FLIGHT = 16

/** Returns an invitation of some 2 KB with a token. */
export const htmlFor = (token: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An invitation</title></head>
<body style="margin:0;background:#f4f4f4;font-family:Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="600" cellpadding="24" cellspacing="0" style="background:#ffffff">
${PARAGRAPHS}
<tr><td align="center"><a href="https://go.partner.test/${token}" style="background:#0b5;color:#fff;padding:12px 24px">Take part</a></td></tr>
<tr><td style="font-size:12px;color:#666">You receive this because you are a clinician.
<a href="https://partner.test/privacy">Privacy</a> · <a href="https://partner.test/contact">Contact</a></td></tr>
</table></td></tr></table></body></html>
`

const PARAGRAPHS = Array.from(
  { length: 4 },
  () =>
    `<tr><td><p style="margin:0 0 12px">Dear colleague, you are invited to a program on heart failure: what changed in the guidelines, how it
changes the first visit, and what to tell patients who ask. It takes twenty minutes, and counts towards your credits.</p></td></tr>`,
).join("\n")

/** Returns the same invitation as text. */
export const textFor = (token: string): string =>
  `${PARAGRAPHS.replace(/<[^>]*>/g, "")}\nTake part [https://go.partner.test/${token}]\n`
