import { textSchema } from "./textSchema.ts"

const MAX_LENGTH = 200

/** Characters that change the writing direction: they could reverse the words of a page or an e-mail. */
const DIRECTION_MARK = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/** Throws `RangeError` if a name contains a writing-direction mark. */
export const assertNoDirectionMark = (name: string): void => {
  const mark = DIRECTION_MARK.exec(name)?.[0]
  if (mark === undefined) return
  const code = mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")
  throw new RangeError(`it contains a direction mark (U+${code}), which could reverse other words; remove it`)
}

/** A display name: trimmed, 1 to 200 characters, without writing-direction marks. */
export const DisplayName = textSchema(`1 to ${MAX_LENGTH} characters on one line`, (text) => {
  const name = text.trim()
  assertNoDirectionMark(name)
  return name !== "" && name.length <= MAX_LENGTH && !/\p{Cc}/u.test(name) ? name : undefined
})
