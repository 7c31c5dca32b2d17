import { createHash, type KeyObject, sign } from "node:crypto"

/** A key that signs for a domain, with the selector of its record. */
export interface DkimSigner {
  readonly domain: string
  readonly selector: string
  readonly privateKey: KeyObject
}

// RFC 8058 requires signatures of both unsubscribe headers. Gmail ignores an unsigned Feedback-ID.
const SIGNED_HEADERS = [
  ...["From", "Reply-To", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"],
  ...["Content-Transfer-Encoding", "List-Unsubscribe", "List-Unsubscribe-Post", "Feedback-ID", "X-Outreach-Message"],
  "Auto-Submitted",
].map((name) => name.toLowerCase())

/**
 * Prepends a DKIM signature of each key to a message with CRLF line ends (RFC 6376, relaxed/relaxed, rsa-sha256).
 *
 * nodemailer would write the list of signed headers on one line of 170 characters, and read the message through several streams.
 */
export const signMessage = (message: Buffer, signers: ReadonlyArray<DkimSigner>): Buffer => {
  // One character per byte, because addresses may contain UTF-8.
  const text = message.toString("latin1")
  const headEnd = text.indexOf("\r\n\r\n")
  const fields = new Map(
    text
      .slice(0, headEnd)
      .split(/\r\n(?![ \t])/)
      .map((field) => {
        const name = field.slice(0, field.indexOf(":")).toLowerCase()
        return [name, relaxed(name, field.slice(name.length + 1))] as const
      }),
  )
  const names = SIGNED_HEADERS.filter((name) => fields.has(name))
  const signed = names.map((name) => `${fields.get(name)}\r\n`).join("")
  const bodyHash = createHash("sha256")
    .update(relaxedBody(text.slice(headEnd + 4)), "latin1")
    .digest("base64")
  const signatures = signers.map(({ domain, selector, privateKey }) => {
    const tags = ["v=1; a=rsa-sha256; c=relaxed/relaxed", `d=${domain}`, `s=${selector}`, `bh=${bodyHash}`]
    const value = ` ${[...tags, `h=${foldNames(names)}`, "b="].join(";\r\n ")}`
    const data = Buffer.from(signed + relaxed("dkim-signature", value), "latin1")
    const signature = sign("rsa-sha256", data, privateKey).toString("base64")
    return `DKIM-Signature:${value}${signature.replaceAll(/.{72}(?=.)/g, "$&\r\n ")}\r\n`
  })
  return Buffer.concat([Buffer.from(signatures.join("")), message])
}

/** Joins names with colons that allow folding. */
const foldNames = (names: ReadonlyArray<string>): string =>
  names.join(":").replaceAll(/(?!.{0,72}$).{1,72}:/g, "$&\r\n ")

/** Unfolds a field and collapses spaces (RFC 6376, 3.4.2). */
const relaxed = (name: string, value: string): string =>
  `${name}:${value
    .replaceAll("\r\n", "")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/^ | $/g, "")}`

/** Collapses spaces, and removes trailing spaces and empty lines at the end (RFC 6376, 3.4.4). */
const relaxedBody = (body: string): string => {
  const lines = body.replaceAll(/[ \t]+/g, " ").replaceAll(" \r\n", "\r\n")
  let end = lines.length
  while (end >= 2 && lines.startsWith("\r\n", end - 2)) end -= 2
  return end === 0 ? "" : `${lines.slice(0, end)}\r\n`
}
