import { textSchema } from "./textSchema.ts"

const MAX_LENGTH = 200

/** A display name: trimmed, 1 to 200 characters. */
export const DisplayName = textSchema(`1 to ${MAX_LENGTH} characters on one line`, (text) => {
  const name = text.trim()
  return name !== "" && name.length <= MAX_LENGTH && !/\p{Cc}/u.test(name) ? name : undefined
})
