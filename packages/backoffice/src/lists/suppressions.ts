import { ProgramId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { choice, field, organizationFilter, timeRange } from "../operations/Field.ts"
import { SuppressionReader } from "../suppressions/SuppressionReader.ts"
import { id, inOps, list, masked, text, time } from "./List.ts"

/** The words for kinds and reasons of suppressions. */
export const SUPPRESSION_WORDS = {
  npi: "NPI",
  email: "Address",
  account_created: "has an account",
  unsubscribed: "unsubscribed",
  operator: "by an operator",
  bounced: "bounced permanently",
  complained: "complained",
} as const

const withWords = <Word extends keyof typeof SUPPRESSION_WORDS>(words: ReadonlyArray<Word>) =>
  words.map((word) => [word, SUPPRESSION_WORDS[word]] as const)

export const suppressionFilters = {
  organizationId: organizationFilter,
  programId: field(ProgramId, "Program", { kind: "choice", all: "All", hint: "With the entries of its organization" }),
  scope: choice("Scope", ["program", "organization"], { all: "All" }),
  kind: choice("Kind", withWords(SUPPRESSION_KINDS), { all: "All" }),
  reason: choice("Reason", withWords(SUPPRESSION_REASONS), { all: "All" }),
  ...timeRange("Created from", "Created before"),
}

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
    kind: text("Kind"),
    value: {
      ...masked("Value"),
      mask: ({ kind, value }) => (kind === "npi" ? maskNpi(value) : maskEmail(value)),
    },
    reason: text("Reason"),
    scope: inOps,
    organizationId: id("Organization"),
    programId: { ...id("Program"), none: "the whole organization" },
    createdAt: time("Since"),
  },
  empty: "No suppression matches.",
})
