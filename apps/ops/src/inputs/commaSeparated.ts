import { Option } from "effect"

/** Parses a comma-separated list of known words without duplicates. Spread the result into `filterMap` of a flag. */
export const commaSeparated = <Word extends string>(words: ReadonlyArray<Word>) =>
  [
    (text: string): Option.Option<ReadonlyArray<Word>> => {
      const parts = new Set(text.split(",").map((part) => part.trim()))
      const known = words.filter((word) => parts.has(word))
      return known.length === parts.size ? Option.some(known) : Option.none()
    },
    () => `one or more of ${words.join(", ")}, separated by commas`,
  ] as const
