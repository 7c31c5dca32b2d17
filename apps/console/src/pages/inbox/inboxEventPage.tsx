import { formatCount } from "@outreach/backoffice/format"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { required } from "@outreach/backoffice/operations/Field"
import { replayInbox, showInboundEvent } from "@outreach/backoffice/operations/inbox"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { Deployment } from "@outreach/domain/Deployment"
import { OrganizationId } from "@outreach/domain/Identifier"
import { ERASED_BODY_END } from "@outreach/domain/inbox/eraseInboundBody"
import { type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { parseInboundEvent } from "@outreach/domain/inbox/parseInboundEvent"
import { quarantineAdvice } from "@outreach/domain/inbox/quarantineAdvice"
import { Effect } from "effect"
import { ActionForm, MaskedContent } from "../../components/forms.tsx"
import { Facts, Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"

/** A partner's event: the received body, and its application. Personal data is masked. */
const pages = defineMaskedPage("/inbox/:event", showInboundEvent, {
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
          ops("inbox show", event, { organization, reveal: masking.isShown }),
          ...(entry.state === "quarantined" ? [ops("inbox replay", event, { organization })] : []),
        ]}
      >
        <Facts facts={factsOf(entry, name)} />
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
  to: ({ event = "", organizationId }) => `/inbox/${encodeURIComponent(event)}?organization=${organizationId}`,
})

export const inboxEventRoutes = [...pages, replay] as const

const TONES = { quarantined: "bad", waiting: "warning", applied: "good" } as const

const factsOf = (entry: InboxEntry, organization: string) => ({
  Received: <Time at={entry.receivedAt} />,
  Organization: <IdLink id={entry.organizationId}>{organization}</IdLink>,
  Endpoint: <IdLink id={entry.endpointId} />,
  "Verified with": <IdLink id={entry.secretId} />,
  "Conflicting duplicates": entry.differing === 0 ? "none" : `${timesOf(entry.differing)}; the first content is used`,
})

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
        <Facts facts={{ Quarantined: <Time at={entry.quarantinedAt} />, Reason: entry.reason }} />
        <p>{quarantineAdvice(entry.reason)}</p>
        <ActionForm action={replay} params={{ event: eventId }} hidden={{ organization: organizationId }} isPrimary />
      </>
    )
  }
  const applied = <Time at={entry.appliedAt} />
  const isErased = body.endsWith(ERASED_BODY_END)
  const parsed = isErased ? undefined : parseInboundEvent((yield* Deployment).livemode)({ type, body })
  if (parsed?._tag !== "InboundCommand") {
    return (
      <>
        <Facts facts={{ Applied: applied }} />
        <p>
          {isErased
            ? "Its clinician was erased, including the event's content."
            : "Events of this type are acknowledged and ignored."}
        </p>
      </>
    )
  }
  const { command } = parsed
  const { programId, programName, qualification, suppressedAt, recipientId } = yield* (yield* InboxReader).outcome(
    organizationId,
    command,
  )
  return (
    <Facts
      facts={{
        Applied: applied,
        Program:
          programId === null ? (
            "no program has this slug"
          ) : (
            <a href={`/programs/${programId}`}>
              <ForeignText>{programName ?? ""}</ForeignText>
            </a>
          ),
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
                <a href={`/inbox/${encodeURIComponent(qualification.eventId)}?organization=${organizationId}`}>
                  an earlier event
                </a>
              )}
            </>
          ),
        "Suppressed since": suppressedAt && <Time at={suppressedAt} />,
        Recipient: recipientId && <IdLink id={recipientId} />,
      }}
    />
  )
})
