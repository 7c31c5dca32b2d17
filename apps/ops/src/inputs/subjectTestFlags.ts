import type { SubjectTest } from "@outreach/domain/campaigns/SubjectTest"
import { DisplayName } from "@outreach/domain/DisplayName"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import { parsedFlag, wholeNumberFlag } from "./parsedInput.ts"

/** The flags of a subject test do not fit together. */
class IncompleteSubjectTest extends Schema.TaggedError<IncompleteSubjectTest>()("IncompleteSubjectTest", {}) {
  override get message(): string {
    return "A test of two subjects needs both --subject-b and --ab-share, and no campaign has --ab-after without them."
  }
}

/** `--subject-b`, `--ab-share` and `--ab-after`: how a campaign compares two subjects. */
export const subjectTestFlags = {
  subjectB: parsedFlag("subject-b", DisplayName, "A second subject, to compare with the first by clicks").pipe(
    Flag.optional,
  ),
  abShare: wholeNumberFlag(
    "ab-share",
    1,
    100,
    "The percentage of the recipients who get one of the two subjects at once; the others get the winner. With 100, neither wins",
  ).pipe(Flag.optional),
  abAfter: parsedFlag(
    "ab-after",
    Seconds,
    "How long after sending has begun the winner is decided, such as 4h; shorter than the window",
  ).pipe(Flag.optional),
}

/** Reads the subject test that the flags describe; undefined without any. */
export const readSubjectTest = Effect.fnUntraced(function* ({
  subjectB,
  abShare,
  abAfter,
}: {
  readonly subjectB: Option.Option<string>
  readonly abShare: Option.Option<number>
  readonly abAfter: Option.Option<number>
}) {
  if (Option.isSome(subjectB) && Option.isSome(abShare)) {
    const afterSeconds = Option.getOrNull(abAfter)
    return { subjectB: subjectB.value, share: abShare.value, afterSeconds } satisfies SubjectTest
  }
  if (Option.isSome(subjectB) || Option.isSome(abShare) || Option.isSome(abAfter))
    return yield* new IncompleteSubjectTest()
  return undefined
})
