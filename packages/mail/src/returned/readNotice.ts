import type { Email } from "postal-mime"
import { judgeReasons, type Reading } from "./judgeReasons.ts"
import { headsOf, textOf } from "./parseReturned.ts"
import { END, isOfSystem, RETURNED_FORMS } from "./returnedForms.ts"

/** Reads a message by the forms of mail systems. Returns undefined if no form fits, or if a mail system didn't send it. */
export const readNotice = (message: Email): Reading | undefined => {
  if (!isOfSystem(message)) return undefined
  const received = message.headers.flatMap(({ key, value }) => (key === "received" ? [value] : []))
  const heads = new Map([...headsOf(message), ["received", received.join("\n")]])
  const all = textOf(message)
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
  const notice = upTo(END, all)
  for (const { head = {}, opening, end, kind, name: rule, isGuess } of RETURNED_FORMS) {
    if (!Object.entries(head).every(([name, pattern]) => heads.has(name) && pattern.test(heads.get(name)!))) continue
    const start = opening === undefined ? 0 : notice.findIndex((line) => opening.test(line))
    if (start === -1) continue
    if (kind !== "bounce") return { kind, rule, sureness: "likely" }
    const reasons = reasonsIn(upTo(end, notice.slice(start)))
    return { kind, rule, ...judgeReasons(reasons, isGuess ? "guess" : "likely") }
  }
  return undefined
}

const upTo = (end: RegExp | undefined, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = end === undefined ? -1 : lines.findIndex((line) => end.test(line))
  return at === -1 ? lines : lines.slice(0, at)
}

/** Splits the lines of a notice by recipient. Lines before the first recipient count only if no text follows a recipient. */
const reasonsIn = (lines: ReadonlyArray<string>): ReadonlyArray<{ readonly text: string }> => {
  let address: string | undefined
  const [before, ...blocks] = lines.reduce<Array<Array<string>>>(
    (parts, line) => {
      const recipient = RECIPIENT.exec(line)
      // A server's reply can start a line with the same recipient.
      if (recipient !== null && recipient[1] !== address) {
        address = recipient[1]
        parts.push([line.slice(recipient[0].length)])
      } else parts.at(-1)!.push(line)
      return parts
    },
    [[]],
  )
  const texts = blocks.map((block) => block.join(" ").trim()).filter((text) => text !== "")
  return (texts.length > 0 ? texts.slice(0, MAX_RECIPIENTS) : [before!.join(" ")]).map((text) => ({ text }))
}

/** The start of a line with an address, followed by the line's end, a colon, a bracket or a time. */
const RECIPIENT = /^[<"]?([^\s<>"@]{1,64}@[^\s<>"@:]{1,255})[>"]?(?::|$| (?=on |invalid |\(|\[|\.\.\. |[45]\d\d))/i

const MAX_RECIPIENTS = 100
