import { Schema } from "effect"

/** The file cannot be imported at all. The reason never contains data of recipients. */
export class UnusableFile extends Schema.TaggedError<UnusableFile>()("UnusableFile", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `${this.file} cannot be imported: ${this.reason}.`
  }
}
