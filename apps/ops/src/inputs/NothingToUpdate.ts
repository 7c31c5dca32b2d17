import { Schema } from "effect"

/** An update names nothing to change. */
export class NothingToUpdate extends Schema.TaggedError<NothingToUpdate>()("NothingToUpdate", {
  flags: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `Say what to change with at least one of ${this.flags.join(", ")}.`
  }
}
