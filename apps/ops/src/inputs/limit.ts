import { Flag } from "effect/cli"
import { wholeNumberFlag } from "./parsedInput.ts"

/** `--limit`: the maximum of rows in a list. */
export const limit = wholeNumberFlag("limit", 1, 1000, "The maximum of rows to show, 1 to 1000 (default 50)").pipe(
  Flag.withDefault(50),
)
