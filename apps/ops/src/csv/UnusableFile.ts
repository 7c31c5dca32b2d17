import { Schema } from "effect"

/** The file cannot be imported at all; the reason repeats nothing of its recipients. */
export class UnusableFile extends Schema.TaggedError<UnusableFile>()("UnusableFile", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `${this.file} cannot be imported: ${this.reason}.`
  }
}
