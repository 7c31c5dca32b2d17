import { Schema } from "effect"

/** Somebody changed a record after it was read, so a change that was made from what was read would undo that. */
export class ChangedMeanwhile extends Schema.TaggedError<ChangedMeanwhile>()("ChangedMeanwhile", {
  id: Schema.String,
}) {
  override get message(): string {
    return `${this.id} was changed after it was read. Nothing was changed now.`
  }
}
