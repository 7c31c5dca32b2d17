import { isAscii } from "../../DomainName.ts"

/** Maximum length of a stored reply. */
const MAX_LENGTH = 200
/** Maximum length that is read, because a reply can have any number of lines. */
const MAX_READ_LENGTH = 2000
/** ASCII words separated by single spaces. */
const WORDS = /^[!-~]+(?: [!-~]+)*$/
const ADDRESS = /(?:"[^"]*"|[^\s<>()[\],;:"]*)(?:@|%40)[^\s<>(),;"]*/gi
/** Words of replies that are also role addresses and identify no person. */
const ROLES: ReadonlySet<string> = new Set(
  (
    "access account accounts address admin billing bounce client contact delivery domain email error help host " +
    "hostmaster info list mail mailbox mailer message network office policy postmaster quota recipient reply " +
    "root sales security sender server service smtp spam support system team test unknown user users webmaster"
  ).split(" "),
)

/** Shorter local parts aren't removed from the text. */
const MIN_TELLING_LENGTH = 4

/**
 * Returns a mail server's reply on one line, without data that identifies the recipient: addresses, the recipient's local part (unless it
 * is a role, such as `mail`) and numbers that may be an NPI.
 */
export const cleanSmtpReply = (reply: string, email: string): string => {
  const local = email.slice(0, Math.max(0, email.lastIndexOf("@")))
  // Drops a last word that was cut, because it may be part of an address.
  const read = reply.length > MAX_READ_LENGTH ? reply.slice(0, MAX_READ_LENGTH).replace(/\S*$/, "") : reply
  // Nearly every reply is one plain line, to which only the last step applies.
  let text = WORDS.test(read) ? read : onOneLine(read)
  if (/@|%40/.test(text)) text = text.replace(ADDRESS, "[address]")
  if (!ROLES.has(local.toLowerCase()) && mayHold(text, local)) text = text.replace(patternOf(local), "[address]")
  text = text.replace(/(?<!\d)\d{10}(?!\d)/g, "[number]").trim()
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text
}

const onOneLine = (reply: string): string =>
  reply
    .split(/\r?\n/)
    // Each line of a reply repeats its codes (RFC 5321, 4.2.1; RFC 2034, 4).
    .map((line, i) => (i === 0 ? line : line.replace(/^\d{3}(?:[ -](?:[245]\.\d{1,3}\.\d{1,3}\s)?|$)/, "")))
    .join(" ")
    .replace(/\p{Cf}+/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")

/** Returns whether text may contain a local part in any case. Non-ASCII letters have several forms. */
const mayHold = (text: string, local: string): boolean =>
  local !== "" && (!isAscii(text) || !isAscii(local) || text.toLowerCase().includes(local.toLowerCase()))

const patternOf = (local: string): RegExp => {
  const escaped = local.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
  return local.length < MIN_TELLING_LENGTH
    ? new RegExp(`(?<![\\p{L}\\p{N}.-])${escaped}(?![\\p{L}\\p{N}.-])`, "giu")
    : new RegExp(escaped, "giu")
}
