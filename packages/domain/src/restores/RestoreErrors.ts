import { Schema } from "effect"

/** A restore is under way already. */
export class RestoreUnderWay extends Schema.TaggedError<RestoreUnderWay>()("RestoreUnderWay", {
  restoredTo: Schema.String,
}) {
  override get message(): string {
    return `A restore to ${this.restoredTo} is under way; \`ops restore status\` shows it, and \`ops restore finish\` ends it.`
  }
}

/** No restore is under way. */
export class NoRestoreUnderWay extends Schema.TaggedError<NoRestoreUnderWay>()("NoRestoreUnderWay", {}) {
  override get message(): string {
    return "No restore is under way. `ops restore begin` begins one; `ops restore finish --promoted` lets the workers go on after a failover without loss."
  }
}

/** The campaigns cannot be resumed, because nobody knows what they sent after the point. */
export class MailLogNotRead extends Schema.TaggedError<MailLogNotRead>()("MailLogNotRead", {}) {
  override get message(): string {
    return "Run `ops restore mailed --log FILE` with the complete log of the mail server first, or finish without --resume-campaigns and decide for each campaign."
  }
}

/** The time is not in the past. */
export class RestoredToFuture extends Schema.TaggedError<RestoredToFuture>()("RestoredToFuture", {
  restoredTo: Schema.String,
}) {
  override get message(): string {
    return `${this.restoredTo} has not come yet; give the time to which the database was restored.`
  }
}
