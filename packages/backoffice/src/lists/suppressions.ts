import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { SUPPRESSION_WORDS, SuppressionReader, suppressionFilters } from "../suppressions/SuppressionReader.ts"
import { id, inOps, list, masked, text, time } from "./List.ts"

export const suppressions = list("suppressions list", {
  about: "List suppressions, newest first, each with its program or organization",
  examples: [
    "ops suppressions list --organization org_… --reason bounced",
    "ops suppressions list --program pgm_… --scope program",
  ],
  isPersonal: true,
  filters: suppressionFilters,
  // A value is personal, so the position is a time and the number of an entry among those of that time.
  cursor: { createdAt: Timestamp, seen: wholeNumber(1, 1_000_000) },
  read: (filter, { limit, after }) => SuppressionReader.use(({ list }) => list(filter, { limit: limit + 1, after })),
  columns: {
    kind: { ...text("Kind"), shown: ({ kind }) => SUPPRESSION_WORDS[kind] },
    value: {
      ...masked("Value"),
      mask: ({ kind, value }) => (kind === "npi" ? maskNpi(value) : maskEmail(value)),
    },
    reason: { ...text("Reason"), shown: ({ reason }) => SUPPRESSION_WORDS[reason] },
    scope: inOps,
    organizationId: id("Organization"),
    programId: { ...id("Program"), none: "the whole organization" },
    createdAt: time("Since"),
  },
  empty: "No suppression matches.",
})
