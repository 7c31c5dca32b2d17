import { Flag } from "effect/cli"

/** How many rows a list shows at most. */
export const limit = Flag.Int("limit").pipe(
  Flag.withDescription("How many to show at most, 1 to 1000 (default 50)"),
  Flag.filter(
    (count) => count >= 1 && count <= 1000,
    () => "a whole number from 1 to 1000",
  ),
  Flag.withDefault(50),
)
