import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { type SuppressionCount, SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { Effect } from "effect"
import { formatCapped } from "../../components/format.ts"
import { ActionForm, Choice, Field } from "../../components/forms.tsx"
import { Pager, Table, withQuery } from "../../components/lists.tsx"
import { useMayAct } from "../../components/View.ts"
import { foreign, isolated, Masked, Time } from "../../components/values.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { ReasonField } from "./ReasonField.tsx"
import {
  SuppressionFilterBar,
  type SuppressionFilters,
  suppressionCursor,
  suppressionFilters,
  wordsOf,
} from "./SuppressionFilters.tsx"
import { addSuppression, liftSuppression } from "./suppressionActions.ts"

const PAGE_SIZE = 50

/** The clinicians that programs and organizations must not write to; NPIs and addresses are masked. */
export const suppressionsPage = definePage({
  path: "/suppressions",
  query: suppressionFilters,
  read: (filters) => contentOf(filters, { isShown: false }),
})

/** Shows the values of a page of the list. */
export const showSuppressions = defineAction({
  path: "/suppressions/show",
  role: "operator",
  command: "suppressions list",
  fields: suppressionFilters,
  run: (filters) => contentOf(filters, { isShown: true }),
})

/** What the page of suppressions shows. */
export type SuppressionsView = Effect.Success<ReturnType<typeof read>>

const read = Effect.fnUntraced(function* (filters: SuppressionFilters) {
  const { organization: organizationId, program: programId, scope, after = null, ...filter } = filters
  const reader = yield* SuppressionReader
  const list = yield* reader.list(
    { organizationId, programId, ofOrganization: scope === "organization", ...filter },
    { limit: PAGE_SIZE, after },
  )
  return {
    ...list,
    organizationId,
    programs: yield* (yield* ProgramRepository).list(organizationId),
    organizations: yield* (yield* OrganizationReader).list,
    counts: organizationId === undefined ? [] : yield* reader.count(organizationId),
  }
})

const contentOf = Effect.fnUntraced(function* (
  filters: SuppressionFilters,
  { isShown }: { readonly isShown: boolean },
) {
  const view = yield* read(filters)
  const { suppressions, next } = view
  const { after, ...others } = filters
  const program = filters.program ?? "pgm_…"
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
        <Counts counts={view.counts} />
        <h2>Entries, newest first</h2>
        <SuppressionFilterBar view={view} filters={filters} />
        {!isShown && suppressions.length > 0 && (
          <ActionForm
            action={showSuppressions}
            hidden={{ ...others, after: after && suppressionCursor.of(after) }}
            label="Show NPIs and addresses, to lift one"
          />
        )}
        <Table
          caption="Suppressions, newest first"
          hideCaption
          rows={suppressions}
          empty="Nobody is suppressed like this. Clinicians with an account, who unsubscribed, bounced for good, complained, or were named by an operator would stand here."
          columns={{
            Kind: ({ kind }) => wordsOf(kind),
            Value: (entry) => (isShown ? entry.value : <Masked>{maskValue(entry)}</Masked>),
            Reason: ({ reason }) => wordsOf(reason),
            Where: (entry) => whereOf(entry, view),
            "Since (UTC)": ({ createdAt }) => <Time at={createdAt} />,
            Lift: isShown && ((entry) => <LiftEntry {...entry} />),
          }}
        />
        <Pager
          address={isShown ? withQuery("/suppressions", others) : undefined}
          next={next === null ? undefined : { after: suppressionCursor.of(next) }}
        />
        <SuppressForms view={view} program={filters.program} />
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
        columns={{
          Where: ({ programId, name }) => (programId === null ? `The whole organization, ${name}` : name),
          Entries: {
            number: ({ organizationId, programId, count }) => (
              <a
                href={`/suppressions?organization=${organizationId}&${programId === null ? "scope=organization" : `program=${programId}`}`}
              >
                {formatCapped(count, COUNT_CAP)}
              </a>
            ),
          },
        }}
      />
    </section>
  )

const whereOf = ({ organizationId, programId }: Suppression, view: SuppressionsView) => {
  const organization = view.organizations.find(({ id }) => id === organizationId)?.name ?? organizationId
  if (programId === null) return foreign`All of ${organization}`
  const program = view.programs.find(({ id }) => id === programId)?.name ?? programId
  return view.organizationId === undefined ? foreign`${program}, ${organization}` : isolated(program)
}

const LiftEntry = ({ organizationId, programId, kind, value }: Suppression) => (
  <ActionForm
    action={liftSuppression}
    hidden={{ [kind]: value, ...(programId === null ? { organization: organizationId } : { program: programId }) }}
    label="Lift"
  >
    <Field name="reason" label="Reason" required maxLength={200} size={20} />
  </ActionForm>
)

const SuppressForms = (props: { readonly view: SuppressionsView; readonly program: SuppressionFilters["program"] }) => {
  const { organizationId, programs } = props.view
  if (!useMayAct("operator")) return null
  if (organizationId === undefined) {
    return <p>Choose an organization above to suppress somebody, or to lift a suppression.</p>
  }
  const hidden = { organization: organizationId }
  const fields = (
    <>
      <Choice
        name="program"
        label="Where"
        value={props.program}
        all="The whole organization"
        options={programs.map(({ id, name }) => [id, name])}
      />
      <Field name="npi" label="NPI" inputmode="numeric" maxLength={10} size={12} />
      <Field name="email" label="E-mail address" inputmode="email" maxLength={320} size={30} />
      <ReasonField />
    </>
  )
  return (
    <>
      <section>
        <h2>Suppress somebody</h2>
        <ActionForm action={addSuppression} hidden={hidden} label="Suppress">
          {fields}
        </ActionForm>
      </section>
      <section>
        <h2>Lift a suppression</h2>
        <p>In a program, this lifts what binds the whole organization as well.</p>
        <ActionForm action={liftSuppression} hidden={hidden} label="Lift">
          {fields}
        </ActionForm>
      </section>
    </>
  )
}
