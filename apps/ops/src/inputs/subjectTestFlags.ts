import type { SubjectTest } from "@outreach/domain/campaigns/SubjectTest"
import { DisplayName } from "@outreach/domain/DisplayName"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect } from "effect"
import { refuse } from "../output/refuse.ts"
import { flag, optional, type Values, wholeNumber } from "./Input.ts"

/** `--subject-b`, `--ab-share` and `--ab-after`: how a campaign compares two subjects. */
export const subjectTestFlags = {
  subjectB: optional(flag(DisplayName, "A second subject, to compare with the first by clicks")),
  abShare: optional(
    wholeNumber(
      1,
      100,
      "The percentage of the recipients who get one of the two subjects at once; the others get the winner. With 100, neither wins",
    ),
  ),
  abAfter: optional(
    flag(Seconds, "How long after sending has begun the winner is decided, such as 4h; shorter than the window"),
  ),
}

/** Reads the subject test that the flags describe; undefined without any. */
export const readSubjectTest = Effect.fnUntraced(function* (flags: Values<typeof subjectTestFlags>) {
  const { subjectB, abShare: share, abAfter: afterSeconds = null } = flags
  if (subjectB !== undefined && share !== undefined) return { subjectB, share, afterSeconds } satisfies SubjectTest
  if ((subjectB ?? share ?? flags.abAfter) === undefined) return undefined
  return yield* refuse(
    "IncompleteSubjectTest",
    "A test of two subjects needs both --subject-b and --ab-share, and no campaign has --ab-after without them.",
  )
})
