import { Schema } from "effect"
import { type Refusal, refusal } from "../output/refuse.ts"

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

/** Describes a file that cannot be imported at all. The reason never contains data of recipients. */
export const unusableFile = (file: string, reason: string): Refusal =>
  refusal("UnusableFile", `${file} cannot be imported: ${reason}.`, { file, reason })
