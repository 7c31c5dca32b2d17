import { Schema } from "effect"

/** The delivery is not a dead letter, or was replayed before. */
export class NotDeadLetter extends Schema.TaggedError<NotDeadLetter>()("NotDeadLetter", {
  deliveryIds: Schema.Array(Schema.String),
  replayed: Schema.Int,
}) {
  override get message(): string {
    const done = this.replayed === 0 ? "" : ` The other ${this.replayed} were replayed.`
    return `Not among the dead letters: ${this.deliveryIds.join(", ")}.${done}`
  }
}
