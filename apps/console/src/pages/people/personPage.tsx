import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { EventDeliveries } from "@outreach/backoffice/deliveries/EventDeliveries"
import { formatCounted } from "@outreach/backoffice/format"
import { cursorOf } from "@outreach/backoffice/lists/List"
import { exportClinician } from "@outreach/backoffice/operations/clinicians"
import { findClinician } from "@outreach/backoffice/operations/recipients"
import { type TimelineCursor, TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { isPlaceholder } from "@outreach/domain/erasure/Erasure"
import type { EventId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { ActionForm, ConfirmLink, RevealForm } from "../../components/forms.tsx"
import { Facts, Items, Page, Pager, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Masked, StatusBadge, Time } from "../../components/values.tsx"
import { PageError } from "../../http/PageError.ts"
import { defineMaskedPage } from "../../http/Route.ts"
import { useMay } from "../../view/View.ts"
import { PersonStatus } from "./PersonStatus.tsx"
import { erasePerson, exportPerson, liftPerson, suppressPerson } from "./personActions.tsx"
import { TimelineTable } from "./TimelineTable.tsx"

const PAGE_SIZE = 50
/** The number of newest campaigns that the page checks for an e-mail to the clinician. */
const MAX_CAMPAIGNS = 3

const timelineCursor = cursorOf({
  at: Instant,
  key: textSchema("32 hex digits", (text) => (/^[0-9a-f]{32}$/.test(text) ? text : undefined)),
})

/** One clinician in one organization, across campaigns. The URL contains a recipient's id, never an NPI or an e-mail address. */
export const personPages = defineMaskedPage("/people/:id", findClinician, {
  inputs: { before: timelineCursor.schema },
  run: Effect.fnUntraced(function* ({ id, before = null }, masking) {
    const { isShown } = masking
    const person = yield* readPerson(id, before)
    const { recipient, recipients, addresses, entries, next, deliveries, names } = person
    const { organizationId, npi } = recipient
    const masked = (value: string, mask: (value: string) => string) =>
      isShown ? value : <Masked>{mask(value)}</Masked>
    const isErased = isPlaceholder(recipient.email)
    return (
      <Page
        title={isErased ? "Erased clinician" : `Clinician ${isShown ? npi : maskNpi(npi)}`}
        commands={[
          ops("recipients find", { id, reveal: isShown }),
          ops("suppressions create", { id, reason: "…" }),
          ops("clinicians export", { id, out: "clinician.json" }),
          ops("clinicians erase", { id, "dry-run": true }),
        ]}
      >
        {isErased && (
          <p>
            <StatusBadge tone="neutral">Erased</StatusBadge> All identifying data was deleted permanently. The remaining
            record is anonymous.
          </p>
        )}
        {!isErased && <PersonStatus {...person} />}
        <Facts
          facts={{
            NPI: masked(npi, maskNpi),
            Addresses: <Items of={addresses.map((email) => masked(email, maskEmail))} />,
            Organization: <IdLink id={organizationId}>{names.get(organizationId) ?? ""}</IdLink>,
            Suppressed: <Suppressed {...person} />,
          }}
        />
        {!isErased && <RevealForm {...masking} label="Show NPI and addresses" />}
        <Section title="Timeline">
          <TimelineTable entries={entries.toReversed()} deliveries={deliveries} names={names} />
          <Pager address={`/people/${id}`} next={next === null ? undefined : { before: timelineCursor.toText(next) }} />
        </Section>
        <Section title="Records">
          <Table
            caption={`${formatCounted(recipients.length, "record")}, one for each campaign, newest first`}
            rows={recipients}
            empty="No records."
            columns={{
              Record: (each) => <IdLink id={each.id} />,
              Campaign: ({ campaignId }) => <IdLink id={campaignId}>{names.get(campaignId) ?? campaignId}</IdLink>,
              Events: ({ id }) => <a href={`/events?recipient=${id}`}>Events</a>,
              Token: ({ token }) => <code>{token}</code>,
              Imported: ({ createdAt }) => <Time at={createdAt} />,
              Sent: ({ sentAt }) => <Time at={sentAt} />,
              Bounced: ({ bouncedAt }) => <Time at={bouncedAt} />,
            }}
          />
        </Section>
        {!isErased && <PersonForms {...person} />}
      </Page>
    )
  }),
})

const readPerson = Effect.fnUntraced(function* (id: RecipientId, before: TimelineCursor | null) {
  const found = yield* (yield* TimelineReader).read(id, { limit: PAGE_SIZE, before })
  if (found === undefined) return yield* PageError.notFound()
  const { recipient, recipients } = found
  const addresses = [...new Set(recipients.map(({ email }) => email))]
  const keys = [
    ...suppressionKeys({ npi: recipient.npi, email: null }),
    ...addresses.flatMap((email) => suppressionKeys({ npi: null, email })),
  ]
  const suppressions = yield* (yield* SuppressionReader).find(recipient.organizationId, keys)
  // Partners choose the ids of their events, which have no deliveries.
  const eventIds = found.entries.flatMap(({ kind, eventId }) =>
    kind === "received" || eventId === null ? [] : [eventId as EventId],
  )
  const deliveries = yield* (yield* EventDeliveries).read(recipient.organizationId, eventIds)
  const newest = recipients.slice(0, MAX_CAMPAIGNS).map(({ id }) => id)
  const sendings = yield* (yield* SendingReader).ofRecipients(recipient.organizationId, newest)
  return { ...found, addresses, suppressions, deliveries, sendings }
})

type Person = Effect.Success<ReturnType<typeof readPerson>>

const Suppressed = ({ suppressions, names }: Person) =>
  suppressions.length === 0 ? (
    <>No</>
  ) : (
    <Items
      of={suppressions.map(({ programId, kind, reason, createdAt }) => (
        <>
          <StatusBadge tone="warning">{reason}</StatusBadge> by {kind === "npi" ? "NPI" : "address"} in{" "}
          {programId === null ? (
            "the whole organization"
          ) : (
            <IdLink id={programId}>{names.get(programId) ?? programId}</IdLink>
          )}{" "}
          since <Time at={createdAt} />
        </>
      ))}
    />
  )

const PersonForms = ({ recipient, recipients, suppressions, names }: Person) => {
  if (!useMay({ role: "operator" })) return null
  const params = { id: recipient.id }
  const optionsOf = (programs: ReadonlyArray<ProgramId>) =>
    [...new Set(programs)].map((id) => [id, names.get(id) ?? id] as const)
  const lifted = suppressions.flatMap(({ programId }) => programId ?? [])
  const isWhole = lifted.length < suppressions.length
  return (
    <Section title="Actions">
      <ActionForm
        action={suppressPerson}
        params={params}
        controls={{ program: { options: optionsOf(recipients.map(({ programId }) => programId)) } }}
      />
      {suppressions.length > 0 && (
        <ActionForm
          action={liftPerson}
          params={params}
          label="Lift the suppression"
          controls={{ program: { options: optionsOf(lifted), value: isWhole ? undefined : lifted[0] } }}
        />
      )}
      <div class="actions">
        <ActionForm action={exportPerson} params={params} label={exportClinician.label} />
        <ConfirmLink page={erasePerson[0]} params={params} label="Erase" isDangerous />
      </div>
    </Section>
  )
}
