import { explainUnsentRecipient, SUPPRESSED_BECAUSE } from "@outreach/backoffice/campaigns/explainUnsent"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import type { EventDelivery } from "@outreach/backoffice/events/EventReader"
import { formatCounted } from "@outreach/backoffice/format"
import { eraseClinician, exportClinician, readPersonalData } from "@outreach/backoffice/operations/clinicians"
import { cursorOf, type Tone } from "@outreach/backoffice/operations/List"
import { findClinician } from "@outreach/backoffice/operations/recipients"
import { createSuppression, removeSuppression } from "@outreach/backoffice/operations/suppressions"
import { type TimelineEntry, type TimelineKind, TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { isPlaceholder } from "@outreach/domain/erasure/Erasure"
import type { ProgramId } from "@outreach/domain/Identifier"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { Instant } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import { Array as Arr, Effect } from "effect"
import { ActionForm, ConfirmLink, RevealForm } from "../../components/forms.tsx"
import { Facts, Items, NextPage, Page, Section, Table, withQuery } from "../../components/layout.tsx"
import { IdLink, inboxPageOf, Masked, Prose, StatusBadge, Time } from "../../components/values.tsx"
import { endpointName } from "../../http/listObjects.ts"
import { textFile } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { PageError } from "../../http/PageError.ts"
import { defineAction, defineMaskedPage } from "../../http/Route.ts"
import { DeliveryState } from "../deliveries/deliveriesPage.tsx"

const PAGE_SIZE = 50
/** The number of newest campaigns that the page checks for an e-mail to the clinician. */
const MAX_CAMPAIGNS = 3

const timelineCursor = cursorOf({
  at: Instant,
  key: textSchema("32 hex digits", (text) => (/^[0-9a-f]{32}$/.test(text) ? text : undefined)),
})

/** One clinician in one organization, across campaigns. The URL contains a recipient's id, never an NPI or an e-mail address. */
const personPages = defineMaskedPage("/people/:id", findClinician, {
  inputs: { before: timelineCursor.schema },
  run: Effect.fnUntraced(function* ({ id, before = null }, { operator, now, ...masking }) {
    const { isShown } = masking
    const found = yield* (yield* TimelineReader).read(id, { limit: PAGE_SIZE, before })
    if (found === undefined) return yield* PageError.notFound()
    const { recipient, recipients, entries, deliveries, next, names } = found
    const { organizationId, npi } = recipient
    const addresses = [...new Set(recipients.map(({ email }) => email))]
    const keys = [
      ...suppressionKeys({ npi, email: null }),
      ...addresses.flatMap((email) => suppressionKeys({ npi: null, email })),
    ]
    const suppressions = yield* (yield* SuppressionReader).find(organizationId, keys)
    const newest = recipients.slice(0, MAX_CAMPAIGNS).map(({ id }) => id)
    const sendings = yield* (yield* SendingReader).ofRecipients(organizationId, newest)
    const isErased = isPlaceholder(recipient.email)
    const masked = (value: string, mask: (value: string) => string) =>
      isShown ? value : <Masked>{mask(value)}</Masked>
    const linkTo = (programId: ProgramId) => <IdLink id={programId}>{names.get(programId) ?? programId}</IdLink>
    const optionsOf = (programs: ReadonlyArray<ProgramId>) =>
      [...new Set(programs)].map((id) => [id, names.get(id) ?? id] as const)
    const lifted = suppressions.flatMap(({ programId }) => programId ?? [])
    const isWhole = lifted.length < suppressions.length
    const params = { id }
    return (
      <Page
        title={isErased ? "Erased clinician" : `Clinician ${isShown ? npi : maskNpi(npi)}`}
        commands={[
          ["recipients find", { id, reveal: isShown }],
          ["suppressions create", { id, reason: "…" }],
          ["clinicians export", { id, out: "clinician.json" }],
          ["clinicians erase", { id, "dry-run": true }],
        ]}
      >
        {isErased ? (
          <p>
            <StatusBadge tone="neutral">Erased</StatusBadge> All identifying data was deleted permanently. The remaining
            record is anonymous.
          </p>
        ) : (
          <>
            {suppressions.map(({ programId, kind, reason, createdAt }, i) => (
              <p key={i} class="problem">
                No campaign of {programId === null ? "the organization" : linkTo(programId)} sends e-mails to the
                clinician: {SUPPRESSED_BECAUSE[reason]}. The {kind === "npi" ? "NPI" : "address"} is suppressed since{" "}
                <Time at={createdAt} />.
              </p>
            ))}
            {sendings.map((sending) => {
              const { status, found } = explainUnsentRecipient(sending, sending.campaign, now)
              return (
                <p key={sending.recipientId} class={status === "ok" ? undefined : "problem"}>
                  <IdLink id={sending.campaignId}>{sending.campaign.name}</IdLink>: <Prose>{found}</Prose>
                </p>
              )
            })}
          </>
        )}
        <Facts
          facts={{
            NPI: masked(npi, maskNpi),
            Addresses: <Items of={addresses.map((email) => masked(email, maskEmail))} />,
            Organization: { id: organizationId, name: names.get(organizationId) },
          }}
        />
        {!isErased && <RevealForm {...masking} label="Show NPI and addresses" />}
        <Section title="Timeline">
          <TimelineTable entries={entries.toReversed()} deliveries={deliveries} names={names} />
          {next !== null && <NextPage to={withQuery(`/people/${id}`, { before: timelineCursor.toText(next) })} />}
        </Section>
        <Section title="Records">
          <Table
            caption={`${formatCounted(recipients.length, "record")}, one for each campaign, newest first`}
            rows={recipients}
            empty="No records."
            columns={{
              Record: ({ id }) => ({ id }),
              Campaign: ({ campaignId: id }) => ({ id, name: names.get(id) ?? id }),
              Events: ({ id }) => ({ to: `/events?recipient=${id}`, name: "Events" }),
              Token: ({ token }) => <code>{token}</code>,
              Imported: ({ createdAt }) => ({ at: createdAt }),
              Sent: ({ sentAt }) => ({ at: sentAt }),
              Bounced: ({ bouncedAt }) => ({ at: bouncedAt }),
            }}
          />
        </Section>
        {!isErased && mayActAs(operator.role, "operator") && (
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
              <ActionForm action={exportPerson} params={params} />
              <ConfirmLink page={erasePerson[0]} params={params} isDangerous />
            </div>
          </Section>
        )}
      </Page>
    )
  }),
})

const omit = ["organizationId", "npi", "email"] as const
const suppressPerson = operationAction("/people/:id/suppress", createSuppression, { omit, requires: ["reason"] })
const liftPerson = operationAction("/people/:id/lift", removeSuppression, { omit, requires: ["reason"] })

const exportPerson = defineAction("/people/:id/export", exportClinician, {
  isRepeatable: true,
  run: ({ id }) =>
    Effect.map(readPersonalData({ id }), ({ json }) =>
      textFile(`clinician-${id}.json`, `${json}\n`, "application/json"),
    ),
})

const erasePerson = operationConfirmation("/people/:id/erase", eraseClinician, { omit })

export const personRoutes = [...personPages, suppressPerson, liftPerson, exportPerson, ...erasePerson] as const

const KINDS: Readonly<Record<TimelineKind, readonly [words: string, tone: Tone]>> = {
  imported: ["Imported", "neutral"],
  published: ["Published", "neutral"],
  attempted: ["Not accepted yet", "warning"],
  sent: ["Sent", "good"],
  refused_later: ["Rejected later", "bad"],
  bounced: ["Bounced", "bad"],
  opened: ["Opened", "good"],
  clicked: ["Clicked", "good"],
  complained: ["Complained", "bad"],
  unsubscribed: ["Unsubscribed", "warning"],
  resubscribed: ["Resubscribed", "neutral"],
  received: ["Partner reported", "neutral"],
  suppressed: ["Suppressed", "warning"],
  withdrawn: ["Withdrawn", "warning"],
}

export const TimelineTable = (props: {
  readonly entries: ReadonlyArray<TimelineEntry>
  readonly deliveries: ReadonlyArray<EventDelivery>
  readonly names?: ReadonlyMap<string, string>
}) => {
  const byEvent = Arr.groupBy(props.deliveries, ({ eventId }) => eventId as string)
  return (
    <Table
      label="Timeline, newest first"
      rows={props.entries}
      empty="No entries yet."
      columns={{
        Time: ({ at }) => ({ at }),
        Entry: ({ kind, detail }) => {
          const [word, tone] = KINDS[kind]
          const isBot = (kind === "opened" || kind === "clicked") && detail !== null
          return { tone: isBot ? "neutral" : tone, word }
        },
        Detail: ({ detail }) => detail ?? "–",
        Where: ({ kind, organizationId, programId, campaignId, eventId }) => {
          if (kind === "received" && eventId !== null) {
            return { to: inboxPageOf(eventId, organizationId), name: "Inbox" }
          }
          const id = campaignId ?? programId
          return id === null ? "Whole organization" : { id, name: props.names?.get(id) ?? id }
        },
        Webhooks: ({ kind, eventId }) =>
          kind === "received" || eventId === null ? (
            "–"
          ) : (
            <>
              <IdLink id={eventId}>Event</IdLink>
              <Deliveries of={byEvent[eventId] ?? []} />
            </>
          ),
      }}
    />
  )
}

const Deliveries = (props: { readonly of: ReadonlyArray<EventDelivery> }) =>
  props.of.length === 0 ? (
    <>, deliveries deleted or none</>
  ) : (
    <ul>
      {props.of.map(({ id, state, replayedAs, endpointId, url }) => (
        <li key={id}>
          <DeliveryState state={state} replayedAs={replayedAs} /> <IdLink id={id}>Delivery</IdLink> to{" "}
          <IdLink id={endpointId}>{endpointName({ id: endpointId, url })}</IdLink>
          {replayedAs !== null && (
            <>
              {" "}
              <IdLink id={replayedAs}>Replay</IdLink>
            </>
          )}
        </li>
      ))}
    </ul>
  )
