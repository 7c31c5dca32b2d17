import { Effect, Schema } from "effect"
import type { Parsed } from "./Input.ts"

/** A range of times or dates ends before it begins. */
class InvalidRange extends Schema.TaggedError<InvalidRange>()("InvalidRange", {
  from: Schema.String,
  to: Schema.String,
}) {
  override get message(): string {
    return `--to is before --from: a range from ${this.from} to ${this.to} holds nothing. Swap the two, or correct one.`
  }
}

/** Fails if a command's `from` is after its `to`. Times keep their microseconds, and compare as text. */
export const checkRange = ({ from, to }: Parsed) =>
  typeof from === "string" && typeof to === "string" && from > to
    ? Effect.fail(new InvalidRange({ from, to }))
    : Effect.void
