import { Option } from "effect"

const LONGEST = 200

/** Reads a name for people: 1 to 200 characters, without the spaces around it; to be spread into `filterMap` of a flag. */
export const name = [
  (text: string): Option.Option<string> => {
    const trimmed = text.trim()
    return trimmed !== "" && trimmed.length <= LONGEST && !/\p{Cc}/u.test(trimmed)
      ? Option.some(trimmed)
      : Option.none()
  },
  () => `1 to ${LONGEST} characters on one line`,
] as const
