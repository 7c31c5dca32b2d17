import { formatCapped, nameIn } from "@outreach/backoffice/format"
import { SUPPRESSION_WORDS, suppressionFilters } from "@outreach/backoffice/lists/suppressions"
import { oneOf, type ValuesOf } from "@outreach/backoffice/operations/Field"
import { createSuppression, removeSuppression, type scope } from "@outreach/backoffice/operations/suppressions"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { Instant } from "@outreach/domain/Instant"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { ActionForm, FilterBar } from "../../components/forms.tsx"
import { Page, Pager, Section, Table, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, isolated, Masked, Time } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { defineCursor, type InputsOf, inputsOfFilters, valuesOf } from "../../view/inputs.ts"
import { useMay } from "../../view/View.ts"

const PAGE_SIZE = 50

const wordsOf = (word: keyof typeof SUPPRESSION_WORDS): string => SUPPRESSION_WORDS[word]

/** The position of an entry in the list: a time and a count, because values are personal. */
const suppressionCursor = defineCursor({ at: Instant, seen: wholeNumber(0, 99_999) })

const inputs = {
  ...inputsOfFilters(suppressionFilters),
  scope: oneOf(["organization"]),
  after: suppressionCursor.input,
}

type Given = InputsOf<typeof inputs>

const options = {
  omit: ["id"],
  requires: ["reason"],
  to: ({ organizationId: organization, programId: program }: ValuesOf<typeof scope>) =>
    withQuery("/suppressions", { organization, program }),
} as const
const addSuppression = operationAction("/suppressions/add", createSuppression, options)
const liftSuppression = operationAction("/suppressions/lift", removeSuppression, options)

/** The suppressed clinicians of programs and organizations, with masked NPIs and addresses. */
const suppressionPages = defineMaskedPage("/suppressions", "suppressions list", {
  inputs,
  run: Effect.fnUntraced(function* (given, { isShown, show }) {
    const view = yield* read(given)
    const { suppressions, next, organizations, programs } = view
    const { after, ...filters } = given
    const { scope, kind, reason, from, to } = filters
    const program = given.program ?? "pgm_…"
    const organization = given.organization ?? "org_…"
    return (
      <Page
        title="Suppressions"
        commands={[
          ...(scope
            ? []
            : [
                ops("suppressions list", {
                  organization: given.organization,
                  program: given.program,
                  kind,
                  reason,
                  from,
                  to,
                }),
              ]),
          ops("suppressions create", { program, npi: "…", reason: "…" }),
          ops("suppressions remove", { program, email: "…", reason: "…" }),
          ops("suppressions import", "clinicians.csv", { program }),
          ops("suppressions export", { organization, out: "suppressions.csv" }),
        ]}
      >
        <Counts {...view} />
        <h2>Entries, newest first</h2>
        <FilterBar
          action="/suppressions"
          inputs={inputs}
          values={{ ...filters, scope: undefined }}
          controls={{
            organization: { options: organizations },
            program: programs.length > 0 && { options: programs },
          }}
        />
        {!isShown && suppressions.length > 0 && (
          <ActionForm
            action={show}
            hidden={{ ...filters, after: after && suppressionCursor.of(after) }}
            label="Show NPIs and addresses, to lift one"
          />
        )}
        <Table
          label="Suppressions, newest first"
          rows={suppressions}
          empty="No matching suppressions."
          columns={{
            Kind: ({ kind }) => wordsOf(kind),
            Value: (entry) => (isShown ? entry.value : <Masked>{maskValue(entry)}</Masked>),
            Reason: ({ reason }) => wordsOf(reason),
            Scope: (entry) => whereOf(entry, view),
            Since: ({ createdAt }) => <Time at={createdAt} />,
            Lift: isShown && ((entry) => <LiftEntry {...entry} />),
          }}
        />
        <Pager
          address={isShown ? withQuery("/suppressions", filters) : undefined}
          next={next === null ? undefined : { after: suppressionCursor.of(next) }}
        />
        <SuppressForms view={view} program={given.program} />
      </Page>
    )
  }),
})

type View = Effect.Success<ReturnType<typeof read>>

const read = Effect.fnUntraced(function* (given: Given) {
  const filter = valuesOf(suppressionFilters, given)
  const { organizationId } = filter
  const { scope, after = null } = given
  const reader = yield* SuppressionReader
  const list = yield* reader.list({ ...filter, ofOrganization: scope && "only" }, { limit: PAGE_SIZE, after })
  return {
    ...list,
    organizationId,
    programs: yield* (yield* ProgramRepository).list(organizationId),
    organizations: yield* (yield* OrganizationReader).list,
    counts: organizationId === undefined ? [] : yield* reader.count(organizationId),
  }
})

const maskValue = ({ kind, value }: Suppression): string => (kind === "npi" ? maskNpi(value) : maskEmail(value))

const Counts = ({ counts }: View) =>
  counts.length === 0 ? null : (
    <section>
      <Table
        title="Scopes"
        label="Entries per scope"
        rows={counts}
        columns={{
          Scope: ({ programId, name }) => (programId === null ? `The whole organization, ${name}` : name),
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

const whereOf = ({ organizationId, programId }: Suppression, view: View) => {
  const organization = nameIn(view.organizations, organizationId)
  if (programId === null) return foreign`All of ${organization}`
  const program = view.programs.find(({ id }) => id === programId)?.name ?? programId
  return view.organizationId === undefined ? foreign`${program}, ${organization}` : isolated(program)
}

const LiftEntry = ({ organizationId, programId, kind, value }: Suppression) => (
  <ActionForm
    action={liftSuppression}
    hidden={{ [kind]: value, ...(programId === null ? { organization: organizationId } : { program: programId }) }}
    controls={{ organization: false, program: false, npi: false, email: false, reason: { size: 20, hint: undefined } }}
  />
)

const SuppressForms = (props: { readonly view: View; readonly program: Given["program"] }) => {
  const { organizationId, programs } = props.view
  if (!useMay({ role: "operator" })) return null
  if (organizationId === undefined) {
    return <p>Choose an organization above to add or lift a suppression.</p>
  }
  const form = {
    hidden: { organization: organizationId },
    controls: { program: { value: props.program, options: programs } },
  }
  return (
    <>
      <Section title="Add a suppression">
        <ActionForm action={addSuppression} {...form} />
      </Section>
      <Section title="Lift a suppression">
        <p>This also lifts a suppression of the whole organization.</p>
        <ActionForm action={liftSuppression} {...form} />
      </Section>
    </>
  )
}

export const suppressionRoutes = [...suppressionPages, addSuppression, liftSuppression] as const
