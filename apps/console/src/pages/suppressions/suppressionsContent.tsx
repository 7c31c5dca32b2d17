import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { Operator } from "@outreach/domain/operators/Operator"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { type SuppressionCount, SuppressionReader } from "@outreach/postgres/suppressions/SuppressionReader"
import { Effect } from "effect"
import type { ComponentChildren } from "preact"
import { ActionForm } from "../../components/ActionForm.tsx"
import { Choice, Field } from "../../components/Field.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCapped } from "../../components/format.ts"
import { Masked } from "../../components/Masked.tsx"
import { Pager, withQuery } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { useView } from "../../components/View.ts"
import {
  fromPosition,
  SuppressionFilterBar,
  type SuppressionFilters,
  toFields,
  wordsOf,
} from "./SuppressionFilters.tsx"
import { addSuppression, liftSuppression } from "./suppressionActions.ts"

const PAGE_SIZE = 50

const read = Effect.fnUntraced(function* (given: SuppressionFilters, operator: Operator) {
  const organizationId = operator.organizationId ?? given.organization
  const reader = yield* SuppressionReader
  const { suppressions, next } = yield* reader.list(
    {
      organizationId,
      programId: given.program,
      ofOrganization: given.scope === "organization",
      kind: given.kind,
      reason: given.reason,
      from: given.from,
      to: given.to,
    },
    { limit: PAGE_SIZE, after: given.after ?? null },
  )
  const programs = yield* (yield* ProgramRepository).list(organizationId)
  return {
    organizationId,
    suppressions,
    next,
    programs,
    organizations: yield* (yield* OrganizationRepository).list,
    counts: organizationId === undefined ? [] : yield* reader.count(organizationId),
  }
})

/** What the page of suppressions shows. */
export type SuppressionsView = Effect.Success<ReturnType<typeof read>>

/** Reads and renders a page of suppressions; values are masked unless they are revealed. */
export const suppressionsContent = Effect.fnUntraced(function* (
  given: SuppressionFilters,
  {
    operator,
    reveals = false,
    actions,
  }: {
    readonly operator: Operator
    readonly reveals?: boolean
    /** More that can be done with the list. */
    readonly actions?: ComponentChildren
  },
) {
  const view = yield* read(given, operator)
  const { suppressions, next, counts, organizationId } = view
  const program = given.program ?? "pgm_…"
  return {
    title: "Suppressions",
    commands: [
      `ops suppressions list --program ${program}`,
      `ops suppressions add --program ${program} --npi … --reason "…"`,
      `ops suppressions remove --program ${program} --email … --reason "…"`,
      `ops suppressions import --program ${program} clinicians.csv`,
    ],
    body: (
      <>
        <Counts counts={counts} />
        <h2>Entries, newest first</h2>
        <SuppressionFilterBar view={view} given={given} />
        {suppressions.length > 0 && actions}
        <Table
          caption="Suppressions, newest first"
          hideCaption
          rows={suppressions}
          empty="Nobody is suppressed like this. Clinicians with an account, who unsubscribed, bounced for good, complained, or whom an operator named would stand here."
          columns={[
            { header: "Kind", cell: ({ kind }) => wordsOf(kind) },
            { header: "Value", cell: (entry) => (reveals ? entry.value : <Masked>{maskValue(entry)}</Masked>) },
            { header: "Reason", cell: ({ reason }) => wordsOf(reason) },
            { header: "Where", cell: (entry) => <Where entry={entry} view={view} /> },
            { header: "Since (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            ...(reveals ? [{ header: "Lift", cell: (entry: Suppression) => <LiftEntry entry={entry} /> }] : []),
          ]}
        />
        <Pager
          address={withQuery("/suppressions", toFields({ ...given, after: undefined }))}
          next={next === null ? undefined : { after: fromPosition(next) }}
        />
        <SuppressForm view={view} hasScope={organizationId !== undefined} program={given.program} />
      </>
    ),
  }
})

const maskValue = ({ kind, value }: Suppression): string => (kind === "npi" ? maskNpi(value) : maskEmail(value))

const Counts = ({ counts }: { readonly counts: ReadonlyArray<SuppressionCount> }) =>
  counts.length === 0 ? null : (
    <section>
      <h2>Where they bind</h2>
      <Table
        caption="How many entries there are"
        hideCaption
        rows={counts}
        empty="There is no program."
        columns={[
          {
            header: "Where",
            cell: ({ programId, name }) => (programId === null ? `The whole organization, ${name}` : name),
          },
          {
            header: "Entries",
            numeric: true,
            cell: ({ organizationId, programId, count }) => (
              <a
                href={
                  programId === null
                    ? `/suppressions?organization=${organizationId}&scope=organization`
                    : `/suppressions?organization=${organizationId}&program=${programId}`
                }
              >
                {formatCapped(count, COUNT_CAP)}
              </a>
            ),
          },
        ]}
      />
    </section>
  )

const Where = ({
  entry: { organizationId, programId },
  view,
}: {
  readonly entry: Suppression
  readonly view: SuppressionsView
}) => {
  const organization = view.organizations.find(({ id }) => id === organizationId)?.name ?? organizationId
  if (programId === null) {
    return (
      <>
        All of <ForeignText>{organization}</ForeignText>
      </>
    )
  }
  return (
    <>
      <ForeignText>{view.programs.find(({ id }) => id === programId)?.name ?? programId}</ForeignText>
      {view.organizationId === undefined && (
        <>
          , <ForeignText>{organization}</ForeignText>
        </>
      )}
    </>
  )
}

const LiftEntry = ({ entry: { organizationId, programId, kind, value } }: { readonly entry: Suppression }) => (
  <ActionForm action={liftSuppression} label="Lift">
    <input type="hidden" name={kind} value={value} />
    {programId === null ? (
      <input type="hidden" name="organization" value={organizationId} />
    ) : (
      <input type="hidden" name="program" value={programId} />
    )}
    <Field name="reason" label="Reason" required maxLength={200} size={20} />
  </ActionForm>
)

const SuppressForm = (props: {
  readonly view: SuppressionsView
  readonly hasScope: boolean
  readonly program: SuppressionFilters["program"]
}) => {
  const { operator } = useView()
  const { organizationId, programs } = props.view
  if (!mayActAs(operator.role, "operator")) return null
  if (!props.hasScope) return <p>Choose an organization above to suppress somebody, or to lift a suppression.</p>
  const fields = (
    <>
      <input type="hidden" name="organization" value={organizationId} />
      <Choice
        name="program"
        label="Where"
        value={props.program}
        options={[["", "The whole organization"], ...programs.map(({ id, name }) => [id, name] as const)]}
      />
      <Field name="npi" label="NPI" inputmode="numeric" maxLength={10} size={12} />
      <Field name="email" label="E-mail address" inputmode="email" maxLength={320} size={30} />
      <Field
        name="reason"
        label="Reason"
        required
        maxLength={200}
        size={42}
        hint="For the audit log: no address and no NPI."
      />
    </>
  )
  return (
    <>
      <section>
        <h2>Suppress somebody</h2>
        <ActionForm action={addSuppression} label="Suppress">
          {fields}
        </ActionForm>
      </section>
      <section>
        <h2>Lift a suppression</h2>
        <p>In a program, this lifts what binds the whole organization as well.</p>
        <ActionForm action={liftSuppression} label="Lift">
          {fields}
        </ActionForm>
      </section>
    </>
  )
}
