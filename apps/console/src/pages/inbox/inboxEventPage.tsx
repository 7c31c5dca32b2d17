import { Deployment } from "@outreach/domain/Deployment"
import { OrganizationId } from "@outreach/domain/Identifier"
import { ERASED_BODY_END } from "@outreach/domain/inbox/eraseInboundBody"
import { type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { parseInboundEvent } from "@outreach/domain/inbox/parseInboundEvent"
import { quarantineAdvice } from "@outreach/domain/inbox/quarantineAdvice"
import { InboxReader } from "@outreach/postgres/inbox/InboxReader"
import { Effect, Schema } from "effect"
import type { ComponentChildren } from "preact"
import { ActionForm } from "../../components/ActionForm.tsx"
import { Facts } from "../../components/Facts.tsx"
import { ForeignBlock, ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Time } from "../../components/Time.tsx"
import { required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { InboundEventId, replayInboxEvent } from "./inboxActions.ts"

/** One event that a partner sent: what was received, and what became of it. */
export const inboxEventPage = definePage({
  path: "/inbox/:event",
  section: "inbox",
  role: "viewer",
  params: { event: InboundEventId },
  query: { organization: required(OrganizationId) },
  read: Effect.fnUntraced(function* ({ event, organization }) {
    const { body, ...entry } = yield* (yield* InboxRepository).find(organization, event)
    return yield* contentOf(entry, body, <Masked entry={entry} body={body} />)
  }),
})

/** Shows an event with its content as it was sent. */
export const showInboxEvent = defineAction({
  path: "/inbox/:event/show",
  section: "inbox",
  role: "operator",
  command: "inbox show",
  params: { event: InboundEventId },
  fields: { organization: required(OrganizationId), reveal: required(Schema.Literal("true")) },
  run: Effect.fnUntraced(function* ({ event, organization }) {
    const { body, ...entry } = yield* (yield* InboxRepository).find(organization, event)
    const page = yield* contentOf(entry, body, <ForeignBlock>{indented(body)}</ForeignBlock>)
    return { page: { ...page, commands: [`${page.commands[0]} --reveal`, ...page.commands.slice(1)] } }
  }),
})

const contentOf = Effect.fnUntraced(function* (entry: InboxEntry, body: string, received: ComponentChildren) {
  const { organizationId, eventId, state } = entry
  const outcome = yield* outcomeOf(entry, body)
  return {
    title: `Inbound event ${eventId}`,
    heading: (
      <>
        Inbound event <ForeignText>{eventId}</ForeignText>
      </>
    ),
    commands: [
      `ops inbox show --organization ${organizationId} ${eventId}`,
      ...(state === "quarantined" ? [`ops inbox replay --organization ${organizationId} ${eventId}`] : []),
    ],
    body: (
      <>
        <EventFacts entry={entry} />
        <h2>What became of it</h2>
        {outcome}
        <h2>What was received</h2>
        {received}
      </>
    ),
  }
})

const TONES = { quarantined: "bad", waiting: "warning", applied: "good" } as const

const EventFacts = ({ entry }: { readonly entry: InboxEntry }) => (
  <Facts
    facts={{
      State: <StatusBadge tone={TONES[entry.state]}>{entry.state}</StatusBadge>,
      Type: entry.type,
      Received: <Time at={entry.receivedAt} />,
      Organization: <IdLink id={entry.organizationId} />,
      Endpoint: <IdLink id={entry.endpointId} />,
      "Verified with":
        entry.secretId === null ? "not recorded by the release that received it" : <code>{entry.secretId}</code>,
      "Came again with another body":
        entry.differing === 0 ? "never" : `${timesOf(entry.differing)}; the first one stays`,
    }}
  />
)

const timesOf = (count: number): string => (count === 1 ? "once" : `${formatCount(count)} times`)

/** Describes what was done with an event. What it tells of a clinician is read from its body, and names nobody. */
const outcomeOf = Effect.fnUntraced(function* (entry: InboxEntry, body: string) {
  if (entry.state === "waiting") {
    return (
      <p>
        It waits for the worker, or for an e-mail in flight to its clinician.{" "}
        <a href={`/inbox?organization=${entry.organizationId}&state=waiting`}>Everything that waits</a>
      </p>
    )
  }
  if (entry.reason !== null) {
    return (
      <>
        <Facts facts={{ Quarantined: <Time at={entry.quarantinedAt} />, Reason: entry.reason }} />
        <p>{quarantineAdvice(entry.reason)}</p>
        <ActionForm action={replayInboxEvent} params={{ event: entry.eventId }} label="Replay">
          <input type="hidden" name="organization" value={entry.organizationId} />
        </ActionForm>
      </>
    )
  }
  const applied = <Facts facts={{ Applied: <Time at={entry.appliedAt} /> }} />
  if (body.endsWith(ERASED_BODY_END)) {
    return (
      <>
        {applied}
        <p>Its clinician was erased, and with that what the event said.</p>
      </>
    )
  }
  const parsed = parseInboundEvent((yield* Deployment).livemode)({ type: entry.type, body })
  if (parsed._tag !== "InboundCommand") {
    return (
      <>
        {applied}
        <p>Events of this type are acknowledged and do nothing here.</p>
      </>
    )
  }
  const { command } = parsed
  const { programId, programName, qualification, suppressedAt, recipientId } = yield* (yield* InboxReader).outcome(
    entry.organizationId,
    command,
  )
  const isFirst = qualification?.eventId === entry.eventId
  return (
    <Facts
      facts={{
        Applied: <Time at={entry.appliedAt} />,
        Program:
          programId === null ? (
            "none has the slug any more"
          ) : (
            <a href={`/digest?organization=${entry.organizationId}&program=${programId}`}>
              <ForeignText>{programName ?? ""}</ForeignText>
            </a>
          ),
        Stage: command.stage,
        "The clinician counts":
          qualification === null ? (
            "not any more"
          ) : (
            <>
              since <Time at={qualification.countedAt} />{" "}
              {isFirst ? (
                "by this event"
              ) : (
                <>
                  by{" "}
                  <a href={`/inbox/${encodeURIComponent(qualification.eventId)}?organization=${entry.organizationId}`}>
                    an earlier event
                  </a>
                </>
              )}
            </>
          ),
        "Suppressed since": suppressedAt === null ? undefined : <Time at={suppressedAt} />,
        Recipient: recipientId === null ? undefined : <IdLink id={recipientId} />,
      }}
    />
  )
})

const Masked = ({ entry, body }: { readonly entry: InboxEntry; readonly body: string }) => (
  <>
    <p>Personal data is hidden: of a value that may be personal its length is shown.</p>
    <ForeignBlock>{JSON.stringify(maskContent(body), null, 2)}</ForeignBlock>
    <ActionForm action={showInboxEvent} params={{ event: entry.eventId }} label="Show">
      <input type="hidden" name="organization" value={entry.organizationId} />
      <input type="hidden" name="reveal" value="true" />
      <span>Shows the content as it was sent. The audit log records it.</span>
    </ActionForm>
  </>
)

const indented = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
