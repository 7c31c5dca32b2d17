import { DescribedError } from "../DescribedError.ts"

export class RestoreUnderWay extends DescribedError(
  "RestoreUnderWay",
  ({ restoredTo }: { readonly restoredTo: string }) =>
    `A restore to ${restoredTo} is under way; \`ops restore status\` shows it, and \`ops restore finish\` ends it.`,
) {}

export class NoRestoreUnderWay extends DescribedError(
  "NoRestoreUnderWay",
  () =>
    "No restore is under way. `ops restore begin` begins one; `ops restore finish --promoted` lets the workers go on after a failover without loss.",
) {}

/** The campaigns cannot be resumed, because nobody knows what they sent after the point. */
export class MailLogNotRead extends DescribedError(
  "MailLogNotRead",
  () =>
    "Run `ops restore mailed --log FILE` with the complete log of the mail server first, or finish without --resume-campaigns and decide for each campaign.",
) {}

/** The time is not in the past. */
export class RestoredToFuture extends DescribedError(
  "RestoredToFuture",
  ({ restoredTo }: { readonly restoredTo: string }) =>
    `${restoredTo} has not come yet; give the time to which the database was restored.`,
) {}
