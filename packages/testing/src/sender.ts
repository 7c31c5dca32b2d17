/** The sender's details of the tests' programs. */
export const SENDER = { senderName: "Acme Health", postalAddress: "1 Main Street, Springfield, IL 62701" } as const

/** The same as flags of `ops programs create` and `update`. */
export const SENDER_FLAGS = ["--sender-name", SENDER.senderName, "--postal-address", SENDER.postalAddress] as const

/** The end of an HTML body, which shows what each e-mail must show. */
export const FOOTER = `<p>{{ sender_name }}, {{ postal_address }}. <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`
