import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { defineCursor, type InputsOf, oneOf } from "../../http/inputs.ts"
import type { SuppressionsView } from "./suppressionsPage.tsx"

/** The place of an entry in the list. It holds a time and a count, because values are personal. */
export const suppressionCursor = defineCursor({ at: Instant, seen: wholeNumber(0, 99_999) })

/** The inputs that filter a list of suppressions. */
export const suppressionFilters = {
  organization: OrganizationId,
  program: ProgramId,
  scope: oneOf(["organization"]),
  kind: oneOf(SUPPRESSION_KINDS),
  reason: oneOf(SUPPRESSION_REASONS),
  from: Instant,
  to: Instant,
  after: suppressionCursor.input,
}
export type SuppressionFilters = InputsOf<typeof suppressionFilters>

const WORDS: Readonly<Record<string, string>> = {
  npi: "NPI",
  email: "Address",
  account_created: "has an account",
  unsubscribed: "unsubscribed",
  operator: "by an operator",
  bounced: "bounced for good",
  complained: "complained",
}
export const wordsOf = (word: string): string => WORDS[word] ?? word

export const SuppressionFilterBar = (props: {
  readonly view: SuppressionsView
  readonly filters: SuppressionFilters
}) => {
  const { organizations, programs } = props.view
  return (
    <FilterBar action="/suppressions" values={props.filters}>
      <OrganizationChoice organizations={organizations} all="All" />
      {programs.length > 0 && (
        <Choice
          name="program"
          label="Program"
          all="All, and the organization"
          options={programs.map(({ id, name }) => [id, name])}
        />
      )}
      <Choice name="kind" label="Kind" all="All" options={SUPPRESSION_KINDS.map((kind) => [kind, wordsOf(kind)])} />
      <Choice
        name="reason"
        label="Reason"
        all="All"
        options={SUPPRESSION_REASONS.map((reason) => [reason, wordsOf(reason)])}
      />
      <Field name="from" label="Since" placeholder="2026-12-01T09:00:00Z" size={22} />
      <Field name="to" label="Before" placeholder="2026-12-02T09:00:00Z" size={22} />
    </FilterBar>
  )
}
