import { PersonalDataReader } from "@outreach/backoffice/erasure/PersonalDataReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { assertNoUnfinishedErasure, eraseClinician, planErasure } from "@outreach/domain/erasure/Erasures"
import type { PersonalDataCounts } from "@outreach/domain/erasure/PersonalData"
import { ProgramId, type RecipientId } from "@outreach/domain/Identifier"
import { ReplyRepository } from "@outreach/domain/mail/ReplyRepository"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { textSchema } from "@outreach/domain/textSchema"
import { RELEASE } from "@outreach/process/release"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { formatCount } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { field, required } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"
import { lift, reason, suppress } from "../suppressions/suppressionActions.ts"

export const On = textSchema("true", (text) => (text === "true" ? true : undefined))

const LastDigits = textSchema("four digits", (text) => (/^\d{4}$/.test(text) ? text : undefined))

const findPerson = Effect.fnUntraced(function* (id: RecipientId) {
  const recipients = yield* (yield* TimelineReader).findPeople({ by: "id", value: id })
  const [recipient] = recipients.filter((each) => each.id === id)
  if (recipient === undefined) return yield* PageError.notFound()
  const { organizationId, npi } = recipient
  const [first, ...others] = [...new Set(recipients.map(({ email }) => email))]
  // Each address is a key of its own, as each NPI is.
  const clinicians = [{ npi, email: first! }, ...others.map((email) => ({ npi: null, email }))]
  return { organizationId, npi, clinicians }
})

const changeBy = (change: typeof suppress | typeof lift) =>
  Effect.fnUntraced(function* (given: { readonly id: RecipientId; readonly program: ProgramId | undefined }) {
    const { organizationId, clinicians } = yield* findPerson(given.id)
    return yield* change(given.program === undefined ? { organizationId } : { programId: given.program }, clinicians)
  })

export const suppressPerson = defineAction("/people/:id/suppress", "suppressions add", {
  role: "operator",
  inputs: { program: field(ProgramId, "Never write to the clinician again in", { kind: "choice" }), reason },
  run: changeBy(suppress),
})

export const liftPerson = defineAction("/people/:id/lift", "suppressions remove", {
  role: "operator",
  inputs: {
    program: field(ProgramId, "Write to the clinician again in", {
      kind: "choice",
      hint: "In a program, this lifts what binds the whole organization as well.",
    }),
    reason,
  },
  run: changeBy(lift),
})

export const repliesDone = defineAction("/people/:id/done", "replies done", {
  role: "operator",
  run: Effect.fnUntraced(function* ({ id }) {
    const { organizationId } = yield* findPerson(id)
    const count = yield* (yield* ReplyRepository).markDone(organizationId, id)
    return `Marked as done: ${formatCount(count)}.`
  }),
})

export const exportPerson = defineAction("/people/:id/export", "clinicians export", {
  role: "admin",
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

export const planErasureOf = defineAction("/people/:id/erase/plan", "clinicians erase", {
  role: "admin",
  inputs: { "dry-run": required(On) },
  run: Effect.fnUntraced(function* ({ id }) {
    const { organizationId, npi } = yield* findPerson(id)
    const { counts, unfinished } = yield* planErasure(organizationId, { npi, email: null })
    return (
      <Page
        title={`Erase clinician ${maskNpi(npi)}?`}
        commands={[`ops clinicians erase --organization ${organizationId} --npi …`]}
      >
        <p>
          {unfinished === undefined
            ? "This erases the clinician from the organization everywhere, for good. A keyed hash goes on suppressing them. The partner sees the erased records in its feed."
            : "An erasure of the clinician was cut off. This finishes it."}
        </p>
        <Counts caption="What would be erased" counts={counts} />
        <ActionForm action={erase} params={{ id }} label="Erase for good" isDangerous />
        <LinkLine to={`/people/${id}`}>Back to the clinician</LinkLine>
      </Page>
    )
  }),
})

const erase = defineAction("/people/:id/erase", "clinicians erase", {
  role: "admin",
  // Its name is none that the audit log records.
  inputs: {
    typed: required(
      field(LastDigits, "The last four digits of the NPI, to confirm", { inputmode: "numeric", maxLength: 4, size: 6 }),
    ),
  },
  run: Effect.fnUntraced(function* ({ id, typed }) {
    const { organizationId, npi } = yield* findPerson(id)
    if (typed !== npi.slice(-4)) {
      return yield* PageError.of(400, "Not erased", "The digits are not the last four of the NPI. Nothing was erased.")
    }
    const { outcome, certificate } = yield* eraseClinician(organizationId, { npi, email: null }, RELEASE)
    return (
      <Page
        title={outcome === "repeated" ? "Erased before" : "The clinician is erased"}
        commands={[`ops clinicians erase --organization ${organizationId} --npi …`]}
      >
        <p>
          The certificate is <code>{certificate.erasureId}</code>. Keep it with the request: it holds nothing of the
          person.
        </p>
        <Counts caption="What was erased" counts={certificate.counts} />
        <p>
          What is outside the database is not erased: the mail server's log and queue, backups, import files, and what
          the partner holds.
        </p>
        <LinkLine to={`/people/${id}`}>What is left of the record</LinkLine>
      </Page>
    )
  }),
})

const Counts = (props: { readonly caption: string; readonly counts: PersonalDataCounts }) => (
  <Table
    caption={props.caption}
    rows={Object.entries(props.counts).filter(([, count]) => count > 0)}
    empty="Nothing is held on the clinician."
    columns={{
      Table: ([table]) => <code>{table}</code>,
      Rows: { count: ([, count]) => count },
    }}
  />
)

export const personActions = [suppressPerson, liftPerson, repliesDone, exportPerson, planErasureOf, erase] as const
