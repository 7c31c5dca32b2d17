import { ProgramId } from "@outreach/domain/Identifier"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { choice, field } from "../operations/Field.ts"
import { organizationFilter, timeRange } from "../operations/fields.ts"

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
  programId: field(ProgramId, "Program", { kind: "choice", all: "All, and the organization" }),
  kind: choice("Kind", withWords(SUPPRESSION_KINDS), { all: "All" }),
  reason: choice("Reason", withWords(SUPPRESSION_REASONS), { all: "All" }),
  ...timeRange("Created from", "Created before"),
}
