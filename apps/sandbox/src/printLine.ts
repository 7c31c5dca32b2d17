import { Effect } from "effect"

/** Prints a text to standard output. */
export const printLine = (text: string): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${text}\n`))
