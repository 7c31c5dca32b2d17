import { textSchema } from "./textSchema.ts"

/** Creates the schema of a comma-separated list of known words without duplicates. */
export const commaSeparated = <Word extends string>(words: ReadonlyArray<Word>) =>
  textSchema(`one or more of ${words.join(", ")}, separated by commas`, (text): ReadonlyArray<Word> | undefined => {
    const parts = new Set(text.split(",").map((part) => part.trim()))
    const known = words.filter((word) => parts.has(word))
    return known.length === parts.size ? known : undefined
  })
