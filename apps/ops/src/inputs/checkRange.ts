import { Effect } from "effect"
import { refuse } from "../output/refuse.ts"
import type { Parsed } from "./Input.ts"

/** Fails if a command's `from` is after its `to`. Times keep their microseconds, and compare as text. */
export const checkRange = ({ from, to }: Parsed) =>
  typeof from === "string" && typeof to === "string" && from > to
    ? refuse(
        "InvalidRange",
        `--to is before --from: a range from ${from} to ${to} holds nothing. Swap the two, or correct one.`,
        { from, to },
      )
    : Effect.void
