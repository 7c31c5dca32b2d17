import { Schema } from "effect"

/** The file has lines that cannot be imported, and `--skip-bad` was not given. */
export class BadLines extends Schema.TaggedError<BadLines>()("BadLines", {
  imported: Schema.Int,
  alreadyThere: Schema.Int,
  badCount: Schema.Int,
  badLines: Schema.Array(Schema.Struct({ line: Schema.Int, reason: Schema.String })),
}) {
  override get message(): string {
    const lines = `${this.badCount} bad ${this.badCount === 1 ? "line" : "lines"}`
    return this.imported + this.alreadyThere === 0
      ? `${lines}; nothing was imported. Fix the file, or leave them out with --skip-bad.`
      : `${lines}; the import stopped there, with ${this.imported} imported. Fix the file, or leave them out with --skip-bad; the next run goes on where this one stopped.`
  }
}

/** The file cannot be imported at all. The reason never contains data of recipients. */
export class UnusableFile extends Schema.TaggedError<UnusableFile>()("UnusableFile", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `${this.file} cannot be imported: ${this.reason}.`
  }
}
