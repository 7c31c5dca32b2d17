import { Flag } from "effect/cli"

/** `--limit`: the maximum of rows in a list. */
export const limit = Flag.Int("limit").pipe(
  Flag.withDescription("The maximum of rows to show, 1 to 1000 (default 50)"),
  Flag.filter(
    (count) => count >= 1 && count <= 1000,
    () => "a whole number from 1 to 1000",
  ),
  Flag.withDefault(50),
)
