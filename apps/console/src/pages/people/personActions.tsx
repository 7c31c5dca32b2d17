import { PersonalDataReader } from "@outreach/backoffice/erasure/PersonalDataReader"
import { formatCounted } from "@outreach/backoffice/format"
import { field } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { assertNoUnfinishedErasure, eraseClinician, planErasure } from "@outreach/domain/erasure/Erasures"
import type { PersonalDataCounts } from "@outreach/domain/erasure/PersonalData"
import { ProgramId, type RecipientId } from "@outreach/domain/Identifier"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { textSchema } from "@outreach/domain/textSchema"
import { RELEASE } from "@outreach/process/release"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, Id } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { PageError } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"
import { lift, reason, suppress } from "../suppressions/suppressionActions.ts"

export const On = textSchema("true", (text) => (text === "true" ? true : undefined))

const findPerson = Effect.fnUntraced(function* (id: RecipientId) {
  const recipients = yield* (yield* TimelineReader).findPeople({ by: "id", value: id })
  const [recipient] = recipients.filter((each) => each.id === id)
  if (recipient === undefined) return yield* PageError.notFound()
  const { organizationId, npi } = recipient
  const [first, ...others] = [...new Set(recipients.map(({ email }) => email))]
  // Addresses and NPIs are separate keys.
  const clinicians = [{ npi, email: first! }, ...others.map((email) => ({ npi: null, email }))]
  return { organizationId, npi, clinicians }
})

const changeBy = (change: typeof suppress | typeof lift) =>
  Effect.fnUntraced(function* (given: { readonly id: RecipientId; readonly program: ProgramId | undefined }) {
    const { organizationId, clinicians } = yield* findPerson(given.id)
    return yield* change(given.program === undefined ? { organizationId } : { programId: given.program }, clinicians)
  })

export const suppressPerson = defineAction("/people/:id/suppress", "suppressions create", {
  role: "operator",
  inputs: { program: field(ProgramId, "Suppress in", { kind: "choice" }), reason },
  run: changeBy(suppress),
})

export const liftPerson = defineAction("/people/:id/lift", "suppressions remove", {
  role: "operator",
  inputs: {
    program: field(ProgramId, "Lift the suppression in", {
      kind: "choice",
      hint: "This also lifts a suppression of the whole organization.",
    }),
    reason,
  },
  run: changeBy(lift),
})

export const exportPerson = defineAction("/people/:id/export", "clinicians export", {
  role: "admin",
  isRepeatable: true,
  run: Effect.fnUntraced(function* ({ id }) {
    const { organizationId, npi } = yield* findPerson(id)
    const clinician = { npi, email: null }
    yield* assertNoUnfinishedErasure(organizationId, clinician)
    const data = yield* (yield* PersonalDataReader).read(organizationId, clinician)
    return HttpServerResponse.text(`${JSON.stringify(data, null, 2)}\n`, {
      contentType: "application/json",
      headers: { "content-disposition": `attachment; filename="clinician-${id}.json"`, "cache-control": "no-store" },
    })
  }),
})

export const erasePerson = defineConfirmation("/people/:id/erase", "clinicians erase", {
  role: "admin",
  ask: Effect.fnUntraced(function* ({ id }) {
    const { organizationId, npi } = yield* findPerson(id)
    const { name } = yield* (yield* OrganizationReader).find(organizationId)
    const { counts, unfinished } = yield* planErasure(organizationId, { npi, email: null })
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return {
      title: `Erase clinician ${maskNpi(npi)}?`,
      commands: [ops("clinicians erase", { organization: organizationId, npi: "…" })],
      back: `/people/${id}`,
      many: formatCounted(rows, "row"),
      whom: foreign`One clinician, everywhere in ${name}`,
      when: "Immediately. A keyed hash still suppresses them. The partner sees the erasure in its feed.",
      typed: {
        word: npi.slice(-4),
        because:
          unfinished === undefined
            ? "This can't be undone. Type the last four digits of the NPI."
            : "An earlier erasure was interrupted. This completes it.",
      },
      label: "Erase permanently",
      children: <Counts caption="Rows to erase" counts={counts} />,
    }
  }),
  run: Effect.fnUntraced(function* ({ id }) {
    const { organizationId, npi } = yield* findPerson(id)
    const { outcome, certificate } = yield* eraseClinician(organizationId, { npi, email: null }, RELEASE)
    return (
      <Page
        title={outcome === "repeated" ? "Already erased" : "Clinician erased"}
        commands={[ops("clinicians erase", { organization: organizationId, npi: "…" })]}
      >
        <p>
          The certificate is <Id>{certificate.erasureId}</Id>. Store it with the request: it contains no personal data.
        </p>
        <Counts caption="Erased rows" counts={certificate.counts} />
        <p>
          Data outside the database isn't erased: the mail server's log and queue, backups, import files, and the
          partner's data.
        </p>
        <LinkLine to={`/people/${id}`}>Remaining record</LinkLine>
      </Page>
    )
  }),
})

const Counts = (props: { readonly caption: string; readonly counts: PersonalDataCounts }) => (
  <Table
    caption={props.caption}
    rows={Object.entries(props.counts).filter(([, count]) => count > 0)}
    empty="No data about the clinician."
    columns={{
      Table: ([table]) => <code>{table}</code>,
      Rows: { count: ([, count]) => count },
    }}
  />
)

export const personActions = [suppressPerson, liftPerson, exportPerson, ...erasePerson] as const
