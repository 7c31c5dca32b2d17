/** The maximum number of SMTP connections of each candidate. */
export const MAX_IN_FLIGHT = 16

/** The recipient's and the sender's fields in an invitation. */
interface Person {
  readonly token: string
  readonly sender_name: string
  readonly postal_address: string
  readonly unsubscribe_url: string
  readonly first_name: string
  readonly last_name: string
  readonly specialty: string
}

const FIRST_NAMES = ["Ana", "Ben", "Chloé", "Dev", "Élise", "Finn", "Grace", "Hugo"]
const LAST_NAMES = ["Abara", "Brown", "Castillo", "Diaz", "Evans", "Fischer", "García", "Hall", "Ito", "O'Neil"]
const SPECIALTIES = ["Cardiology", "Family medicine", "Internal medicine", "Nephrology", "Obstetrics & gynecology"]

/** Returns the fields of a recipient by number; every sixth has no specialty. */
export const fieldsOf = (n: number): Record<string, string> => ({
  first_name: FIRST_NAMES[n % FIRST_NAMES.length]!,
  last_name: LAST_NAMES[n % LAST_NAMES.length]!,
  ...(n % 6 > 0 && { specialty: SPECIALTIES[n % SPECIALTIES.length]! }),
})

/** The placeholders of the template. */
export const TEMPLATE: Person = {
  token: "{{ token }}",
  sender_name: "{{ sender_name }}",
  postal_address: "{{ postal_address }}",
  unsubscribe_url: "{{ unsubscribe_url }}",
  first_name: "{{ first_name }}",
  last_name: "{{ last_name }}",
  specialty: '{{ specialty | default: "medicine" }}',
}

/** Returns an invitation of about 2 KB. */
export const htmlFor = (person: Person): string => {
  const { token, sender_name, postal_address, unsubscribe_url, first_name, last_name, specialty } = person
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An invitation</title></head>
<body style="margin:0;background:#f4f4f4;font-family:Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="600" cellpadding="24" cellspacing="0" style="background:#ffffff">
<tr><td><p style="margin:0 0 12px">Dear ${first_name} ${last_name}, there is news in ${specialty}.</p></td></tr>
${PARAGRAPHS}
<tr><td align="center"><a href="https://go.partner.test/${token}" style="background:#0b5;color:#fff;padding:12px 24px">Take part</a></td></tr>
<tr><td style="font-size:12px;color:#666">You receive this because you are a clinician.
It was sent to ${first_name} ${last_name}. <a href="https://partner.test/privacy">Privacy</a> · <a href="https://partner.test/contact">Contact</a>
${sender_name}, ${postal_address}. <a href="${unsubscribe_url}">Unsubscribe</a></td></tr>
</table></td></tr></table></body></html>
`
}

const PARAGRAPHS = Array.from(
  { length: 4 },
  () =>
    `<tr><td><p style="margin:0 0 12px">Dear colleague, you are invited to a program on heart failure: what changed in the guidelines, how it
changes the first visit, and what to tell patients who ask. It takes twenty minutes, and counts towards your credits.</p></td></tr>`,
).join("\n")

export const subjectFor = ({ first_name }: Person): string => `${first_name}, an invitation to Heart failure`

/** Returns the invitation as plain text. */
export const textFor = ({ token, sender_name, postal_address, first_name, last_name, specialty }: Person): string =>
  `Dear ${first_name} ${last_name}, there is news in ${specialty}.\n${PARAGRAPHS.replace(/<[^>]*>/g, "")}\nTake part [https://go.partner.test/${token}]\n${sender_name}, ${postal_address}\n`
