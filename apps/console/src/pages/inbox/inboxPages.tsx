import { formatCapped, formatCount, formatDuration } from "@outreach/backoffice/format"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { quarantineAdvice } from "@outreach/backoffice/inbox/quarantineAdvice"
import { required } from "@outreach/backoffice/operations/Field"
import { inbox, replayInbox, showInboundEvent, signatureRejections } from "@outreach/backoffice/operations/inbox"
import { readAll } from "@outreach/backoffice/operations/List"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { Deployment } from "@outreach/domain/Deployment"
import { OrganizationId } from "@outreach/domain/Identifier"
import { INBOUND_TYPES, parseInboundEvent } from "@outreach/domain/inbox/InboundStep"
import { ERASED_BODY_END, type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Result } from "effect"
import { ActionForm, ConfirmLink, MaskedContent } from "../../components/forms.tsx"
import { Chips, Facts, Page, Table, withQuery } from "../../components/layout.tsx"
import { Addressed, foreign, inboxPageOf, ShortId, StatusBadge, Time } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { pickDefined } from "../../view/inputs.ts"

const TITLES = { quarantined: "Quarantined events", waiting: "Pending events", applied: "Applied events" }

const inboxPages = listPage("/inbox", inbox, {
  *around({ filter, context: { now } }) {
    const { organizationId: organization, type } = filter
    const reader = yield* InboxReader
    const [{ quarantined, waiting, waitingSince }, reasons, rejections] = yield* Effect.all(
      [reader.counts(organization), reader.reasons(organization), readRejections(organization)],
      { concurrency: "unbounded" },
    )
    const state = filter.waiting ? "waiting" : filter.applied ? "applied" : "quarantined"
    const addressOf = (each: typeof state) =>
      withQuery("/inbox", { organization, ...(each !== "quarantined" && { [each]: "yes" }) })
    const since =
      waitingSince === null ? "" : `, oldest for ${formatDuration((now - toUnixMillis(waitingSince)) / 1000)}`
    return {
      cells: {
        eventId: ({ organizationId, eventId }) => (
          <a href={inboxPageOf(eventId, organizationId)}>
            <ShortId>{eventId}</ShortId>
          </a>
        ),
      },
      above: (
        <>
          <Chips
            label="States"
            of={[
              [addressOf("quarantined"), `Quarantined: ${formatCapped(quarantined)}`],
              [addressOf("waiting"), `Pending: ${formatCapped(waiting)}${since}`],
              [addressOf("applied"), "Applied"],
            ]}
            chosen={addressOf(state)}
          />
          <Table
            title="Quarantine reasons"
            label="Quarantined events by reason"
            rows={reasons}
            columns={{
              Events: { number: ({ count }) => formatCapped(count) },
              Reason: ({ type, reason }) => ({ to: withQuery("/inbox", { organization, type, reason }), name: reason }),
              Type: ({ type }) => type,
              First: ({ first }) => ({ at: first }),
              Last: ({ last }) => ({ at: last }),
            }}
          />
          {reasons.length > 0 &&
            (organization === undefined ? (
              <p>Choose an organization below to replay all of them, or open one to replay it.</p>
            ) : (
              <ConfirmLink
                page={replayRoutes[0]}
                query={{ organization, all: true }}
                label={`Replay all ${formatCapped(quarantined)}`}
              />
            ))}
          <h2>{TITLES[state]}</h2>
        </>
      ),
      below: rejections,
      controls: {
        type: { options: [...new Set([...INBOUND_TYPES, ...(type === undefined ? [] : [type])])] },
        reason: state === "quarantined" && {},
      },
    }
  },
})

/** Reads the table of webhooks without a valid signature, with the names of their endpoints; empty without any. */
export const readRejections = Effect.fnUntraced(function* (organizationId: OrganizationId | undefined) {
  const rows = yield* readAll(signatureRejections, pickDefined({ organizationId }))
  if (rows.length === 0) return null
  const { nameOf } = yield* readObjects({ endpointId: true }, pickDefined({ organizationId }))
  return <ListTable title="Invalid signatures" list={signatureRejections} rows={rows} nameOf={nameOf} />
})

const replayRoutes = operationConfirmation("/inbox/replay", replayInbox, {
  omit: ["event"],
  chosen: ["organizationId", "all"],
  back: ({ organizationId }) => `/inbox?organization=${organizationId}`,
})

const eventPages = defineMaskedPage("/inbox/:event", showInboundEvent, {
  forPartners: true,
  inputs: { organization: required(OrganizationId) },
  run: Effect.fnUntraced(function* ({ event, organization }, masking) {
    const { body, ...entry } = yield* (yield* InboxRepository).find(organization, event)
    const { name } = yield* (yield* OrganizationReader).find(organization)
    return (
      <Page
        title={foreign`Inbound ${entry.type}`}
        state={<StatusBadge tone={TONES[entry.state]}>{entry.state}</StatusBadge>}
        id={event}
        commands={[
          ["inbox show", event, { organization, reveal: masking.isShown }],
          entry.state === "quarantined" && ["inbox replay", event, { organization }],
        ]}
      >
        <Facts
          facts={{
            Received: { at: entry.receivedAt },
            Organization: { id: organization, name },
            Endpoint: { id: entry.endpointId },
            "Verified with": { id: entry.secretId },
            "Conflicting duplicates":
              entry.differing === 0 ? "none" : `${timesOf(entry.differing)}; the first content is used`,
          }}
        />
        <h2>Processing</h2>
        {yield* outcomeOf(entry, body)}
        <h2>Content</h2>
        <MaskedContent {...masking} hidden={{ organization }}>
          {body}
        </MaskedContent>
      </Page>
    )
  }),
})

const replay = operationAction("/inbox/:event/replay", replayInbox, {
  omit: ["all"],
  to: ({ event = "", organizationId }) => inboxPageOf(event, organizationId),
})

export const inboxRoutes = [...inboxPages, ...replayRoutes, ...eventPages, replay] as const

const TONES = { quarantined: "bad", waiting: "warning", applied: "good" } as const

const timesOf = (count: number): string => (count === 1 ? "once" : `${formatCount(count)} times`)

/** Describes the effect of an event. It reads a clinician's role from the body, without names. */
const outcomeOf = Effect.fnUntraced(function* (entry: InboxEntry, body: string) {
  const { organizationId, eventId, type } = entry
  if (entry.state === "waiting") {
    return (
      <p>
        Pending: a worker applies it soon, or after the e-mail in progress to its clinician.{" "}
        <a href={`/inbox?organization=${organizationId}&waiting=yes`}>All pending events</a>
      </p>
    )
  }
  if (entry.reason !== null) {
    return (
      <>
        <Facts facts={{ Quarantined: { at: entry.quarantinedAt }, Reason: entry.reason }} />
        <p>
          <Addressed {...quarantineAdvice(entry.reason)} />
        </p>
        <ActionForm action={replay} params={{ event: eventId }} hidden={{ organization: organizationId }} isPrimary />
      </>
    )
  }
  const applied = { Applied: { at: entry.appliedAt } }
  const isErased = body.endsWith(ERASED_BODY_END)
  const parse = parseInboundEvent((yield* Deployment).livemode)
  const command = isErased ? undefined : Result.getOrUndefined(parse({ type, body }))
  if (command === undefined) {
    return (
      <>
        <Facts facts={applied} />
        <p>
          {isErased
            ? "Its clinician was erased, including the event's content."
            : "Events of this type are acknowledged and ignored."}
        </p>
      </>
    )
  }
  const { programId, programName, qualification, suppressedAt, recipientId } = yield* (yield* InboxReader).outcome(
    organizationId,
    command,
  )
  return (
    <Facts
      facts={{
        ...applied,
        Program: programId === null ? "no program has this slug" : { id: programId, name: programName },
        Stage: command.stage,
        Counted:
          qualification === null ? (
            "no longer"
          ) : (
            <>
              since <Time at={qualification.countedAt} /> by{" "}
              {qualification.eventId === eventId ? (
                "this event"
              ) : (
                <a href={inboxPageOf(qualification.eventId, organizationId)}>an earlier event</a>
              )}
            </>
          ),
        "Suppressed since": suppressedAt && { at: suppressedAt },
        Recipient: recipientId && { id: recipientId },
      }}
    />
  )
})
