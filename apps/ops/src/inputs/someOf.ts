import { Option } from "effect"

/** Reads a comma-separated list of known words, each at most once; to be spread into `filterMap` of a flag. */
export const someOf = <Word extends string>(words: ReadonlyArray<Word>) =>
  [
    (text: string): Option.Option<ReadonlyArray<Word>> => {
      const parts = new Set(text.split(",").map((part) => part.trim()))
      const known = words.filter((word) => parts.has(word))
      return known.length === parts.size ? Option.some(known) : Option.none()
    },
    () => `one or more of ${words.join(", ")}, separated by commas`,
  ] as const
