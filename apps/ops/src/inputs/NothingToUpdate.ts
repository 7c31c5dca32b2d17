import { Schema } from "effect"

/** The command line of an update contains no change. */
export class NothingToUpdate extends Schema.TaggedError<NothingToUpdate>()("NothingToUpdate", {
  flags: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `Give at least one of ${this.flags.join(", ")}.`
  }
}
