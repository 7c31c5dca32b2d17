import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import type { SuppressionPosition } from "@outreach/postgres/suppressions/SuppressionReader"
import { Schema } from "effect"
import { Choice, Field, FilterBar } from "../../components/Field.tsx"
import { OrganizationChoice } from "../../components/OrganizationChoice.tsx"
import type { InputsOf } from "../../http/inputs.ts"
import type { SuppressionsView } from "./suppressionsContent.tsx"

const oneOf = <const Words extends ReadonlyArray<string>>(words: Words) =>
  Schema.Literals(words).annotate({ expected: `one of ${words.join(", ")}` })

/** Where the next page begins. It holds a time and a count, because values are personal. */
const Position = textSchema<SuppressionPosition>("the end of another page, from its link", (text) => {
  const [, at, seen] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)~(\d{1,5})$/.exec(text) ?? []
  return at === undefined ? undefined : { at: at as Timestamp, seen: Number(seen) }
})

/** What a list of suppressions is asked for by. */
export const suppressionFilters = {
  organization: OrganizationId,
  program: ProgramId,
  scope: oneOf(["organization"]),
  kind: oneOf(SUPPRESSION_KINDS),
  reason: oneOf(SUPPRESSION_REASONS),
  from: Instant,
  to: Instant,
  after: Position,
}
export type SuppressionFilters = InputsOf<typeof suppressionFilters>

/** The filters as a form gives them. */
export const toFields = ({ after, ...given }: SuppressionFilters): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ...(after === undefined ? [] : [["after", fromPosition(after)]]),
  ])

export const fromPosition = ({ at, seen }: SuppressionPosition): string => `${at}~${seen}`

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

/** The filters of the list. */
export const SuppressionFilterBar = ({
  view,
  given,
}: {
  readonly view: SuppressionsView
  readonly given: SuppressionFilters
}) => (
  <FilterBar action="/suppressions">
    <OrganizationChoice organizations={view.organizations} value={given.organization} all="All" />
    {view.programs.length > 0 && (
      <Choice
        name="program"
        label="Program"
        value={given.program}
        options={[["", "All, and the organization"], ...view.programs.map(({ id, name }) => [id, name] as const)]}
      />
    )}
    <Choice
      name="kind"
      label="Kind"
      value={given.kind}
      options={[["", "All"], ...SUPPRESSION_KINDS.map((kind) => [kind, wordsOf(kind)] as const)]}
    />
    <Choice
      name="reason"
      label="Reason"
      value={given.reason}
      options={[["", "All"], ...SUPPRESSION_REASONS.map((reason) => [reason, wordsOf(reason)] as const)]}
    />
    <Field name="from" label="Since" value={given.from} placeholder="2026-12-01T09:00:00Z" size={22} />
    <Field name="to" label="Before" value={given.to} placeholder="2026-12-02T09:00:00Z" size={22} />
  </FilterBar>
)
