import { Option } from "effect"

const MAX_LENGTH = 200

/** Parses a display name: trims it, and requires 1 to 200 characters. Spread the result into `filterMap` of a flag. */
export const name = [
  (text: string): Option.Option<string> => {
    const trimmed = text.trim()
    return trimmed !== "" && trimmed.length <= MAX_LENGTH && !/\p{Cc}/u.test(trimmed)
      ? Option.some(trimmed)
      : Option.none()
  },
  () => `1 to ${MAX_LENGTH} characters on one line`,
] as const
