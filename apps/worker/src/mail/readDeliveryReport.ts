import PostalMime from "postal-mime"
import { classifySmtpReply } from "./classifySmtpReply.ts"

/**
 * Reads what a delivery status notification (RFC 3464) says for good of its one message; undefined for whatever is none, such as an
 * automatic reply, for a notice of delay, and for one that says that the message was delivered or passed on to anybody.
 */
export const readDeliveryReport = async (
  raw: Uint8Array,
): Promise<ReturnType<typeof classifySmtpReply> | undefined> => {
  const { headers, attachments } = await PostalMime.parse(raw)
  const type = headers.find(({ key }) => key === "content-type")?.value ?? ""
  if (!/^multipart\/report\b/i.test(type) || !/report-type="?delivery-status"?/i.test(type)) return undefined
  const part = attachments.find(({ mimeType }) => mimeType === "message/delivery-status")
  const text = typeof part?.content === "string" ? part.content : new TextDecoder().decode(part?.content)
  const recipients = readFieldGroups(text).filter((fields) => fields.has("action"))
  if (recipients.length === 0 || recipients.some((fields) => !/^failed\b/i.test(fields.get("action")!)))
    return undefined
  return judgeFields(recipients[0]!)
}

const judgeFields = (fields: ReadonlyMap<string, string>) => {
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(fields.get("status") ?? "")?.[0] ?? "5.0.0"
  const diagnostic = (fields.get("diagnostic-code") ?? "").replace(/^[\w-]+\s*;\s*/, "")
  const code = Number(/^\W*([45]\d\d)\b/.exec(diagnostic)?.[1] ?? (status.startsWith("4") ? 400 : 500))
  // A status that says nothing leaves the word to the server's own.
  const text = status.endsWith(".0.0") ? diagnostic : `${status} ${diagnostic}`
  return classifySmtpReply({ code, text, at: "RCPT TO" })
}

/** Reads groups of header fields that blank lines part, with the names in lower case; a line that begins with a space goes on. */
const readFieldGroups = (text: string): ReadonlyArray<ReadonlyMap<string, string>> =>
  text
    .replace(/\r\n?/g, "\n")
    .split(/\n[ \t]*\n+/)
    .map((group) => {
      const lines = group.replace(/\n[ \t]+/g, " ").split("\n")
      return new Map(
        lines.flatMap((line) => {
          const [, name, value] = /^([\w-]+)[ \t]*:[ \t]*(.*)$/.exec(line) ?? []
          return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()] as const]
        }),
      )
    })
