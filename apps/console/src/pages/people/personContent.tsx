import { isPlaceholder } from "@outreach/domain/erasure/Erasure"
import type { EventId, RecipientId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { type Suppression, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { EventDeliveries } from "@outreach/postgres/deliveries/EventDeliveries"
import { type TimelinePosition, TimelineReader } from "@outreach/postgres/recipients/TimelineReader"
import { SuppressionReader } from "@outreach/postgres/suppressions/SuppressionReader"
import { Effect } from "effect"
import type { ComponentChildren } from "preact"
import { Facts } from "../../components/Facts.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Masked } from "../../components/Masked.tsx"
import { Pager } from "../../components/Pager.tsx"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { PageError } from "../../http/PageError.ts"
import { PersonForms } from "./PersonForms.tsx"
import { TimelineTable } from "./TimelineTable.tsx"

const PAGE_SIZE = 50

/** A clinician in one organization, as their page shows them. */
export interface Person {
  /** The record by which the page was asked for. */
  readonly recipient: Recipient
  /** All records of the clinician, newest first. */
  readonly recipients: ReadonlyArray<Recipient>
  readonly suppressions: ReadonlyArray<Suppression>
}

/** Reads the clinician of a recipient, with a page of what happened. */
const readPerson = Effect.fnUntraced(function* (id: RecipientId, before: TimelinePosition | null) {
  const found = yield* (yield* TimelineReader).read(id, { limit: PAGE_SIZE, before })
  if (found === undefined) return yield* PageError.notFound()
  const { recipient, recipients } = found
  const addresses = [...new Set(recipients.map(({ email }) => email))]
  const keys = [
    ...suppressionKeys({ npi: recipient.npi, email: null }),
    ...addresses.flatMap((email) => suppressionKeys({ npi: null, email })),
  ]
  const suppressions = yield* (yield* SuppressionReader).find(recipient.organizationId, keys)
  // The partner's events have ids of the partner's own, and no deliveries.
  const eventIds = found.entries.flatMap(({ kind, eventId }) =>
    kind === "received" || eventId === null ? [] : [eventId as EventId],
  )
  const deliveries = yield* (yield* EventDeliveries).read(recipient.organizationId, eventIds)
  return { ...found, suppressions, deliveries }
})

/** Reads and renders a clinician's page; NPI and addresses are masked unless they are revealed. */
export const personContent = Effect.fnUntraced(function* (
  id: RecipientId,
  {
    before = null,
    reveals = false,
    actions,
  }: {
    readonly before?: TimelinePosition | undefined | null
    readonly reveals?: boolean
    /** More that can be done with the clinician. */
    readonly actions?: ComponentChildren
  },
) {
  const { entries, next, deliveries, names, ...person } = yield* readPerson(id, before)
  const { recipient, recipients, suppressions } = person
  const show = (value: string, mask: (value: string) => string) => (reveals ? value : <Masked>{mask(value)}</Masked>)
  const isErased = isPlaceholder(recipient.email)
  return {
    title: isErased ? "Erased clinician" : `Clinician ${reveals ? recipient.npi : maskNpi(recipient.npi)}`,
    commands: [
      `ops recipients find --id ${id}${reveals ? " --reveal" : ""}`,
      `ops suppressions add --organization ${recipient.organizationId} --npi … --reason "…"`,
      `ops clinicians export --organization ${recipient.organizationId} --npi … --out clinician.json`,
      `ops clinicians erase --organization ${recipient.organizationId} --npi … --dry-run`,
    ],
    body: (
      <>
        {isErased && (
          <p>
            <StatusBadge tone="neutral">Erased</StatusBadge> What identified the clinician is gone for good. What is
            left stands for a record that nobody can tell apart.
          </p>
        )}
        <Facts
          facts={{
            NPI: show(recipient.npi, maskNpi),
            Addresses: (
              <ul class="plain">
                {[...new Set(recipients.map(({ email }) => email))].map((email) => (
                  <li key={email}>{show(email, maskEmail)}</li>
                ))}
              </ul>
            ),
            Organization: <IdLink id={recipient.organizationId}>{names.get(recipient.organizationId) ?? ""}</IdLink>,
            Suppressed: <Suppressed suppressions={suppressions} names={names} />,
          }}
        />
        {!isErased && actions}
        <section>
          <h2>Timeline</h2>
          <TimelineTable entries={entries.toReversed()} deliveries={deliveries} names={names} />
          <Pager address={`/people/${id}`} next={next === null ? undefined : { before: `${next.at}~${next.key}` }} />
        </section>
        <section>
          <h2>Records</h2>
          <Table
            caption={`${formatCount(recipients.length)} ${recipients.length === 1 ? "record" : "records"}, one for each campaign, newest first`}
            rows={recipients}
            empty="No campaign has the clinician."
            columns={[
              { header: "Record", cell: (each) => <IdLink id={each.id} /> },
              {
                header: "Campaign",
                cell: ({ campaignId }) => <IdLink id={campaignId}>{names.get(campaignId) ?? campaignId}</IdLink>,
              },
              { header: "Token", cell: ({ token }) => <code>{token}</code> },
              { header: "Imported (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
              { header: "Sent (UTC)", cell: ({ sentAt }) => <Time at={sentAt} /> },
              { header: "Bounced (UTC)", cell: ({ bouncedAt }) => <Time at={bouncedAt} /> },
            ]}
          />
        </section>
        {!isErased && <PersonForms person={person} names={names} />}
      </>
    ),
  }
})

const Suppressed = ({
  suppressions,
  names,
}: Pick<Person, "suppressions"> & { readonly names: ReadonlyMap<string, string> }) =>
  suppressions.length === 0 ? (
    <>No</>
  ) : (
    <ul class="plain">
      {suppressions.map(({ programId, kind, reason, createdAt }) => (
        <li key={`${programId} ${kind}`}>
          <StatusBadge tone="warning">{reason}</StatusBadge> by {kind === "npi" ? "NPI" : "address"} in{" "}
          {programId === null ? (
            "the whole organization"
          ) : (
            <IdLink id={programId}>{names.get(programId) ?? programId}</IdLink>
          )}{" "}
          since <Time at={createdAt} />
        </li>
      ))}
    </ul>
  )
