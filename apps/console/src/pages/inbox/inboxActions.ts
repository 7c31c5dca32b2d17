import { OrganizationId } from "@outreach/domain/Identifier"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Effect, Schema } from "effect"
import { formatCount } from "../../components/format.ts"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"

/** The id of an event as the partner sent it. */
export const InboundEventId = Schema.NonEmptyString.check(Schema.isMaxLength(255)).pipe(
  Schema.annotate({ expected: "the id of an event as the partner sent it" }),
)

/** Lets every quarantined event of an organization be applied again. */
export const replayInbox = defineAction({
  path: "/inbox/replay",
  section: "inbox",
  role: "operator",
  command: "inbox replay",
  params: {},
  fields: { organization: required(OrganizationId), all: required(Schema.Literal("true")) },
  run: Effect.fnUntraced(function* ({ organization }) {
    const replayed = yield* (yield* InboxRepository).replayAll(organization)
    return {
      to: `/inbox?organization=${organization}&state=waiting`,
      notice: `${formatCount(replayed)} ${replayed === 1 ? "event waits" : "events wait"} to be applied again.`,
    }
  }),
})

/** Lets a quarantined event be applied again. */
export const replayInboxEvent = defineAction({
  path: "/inbox/:event/replay",
  section: "inbox",
  role: "operator",
  command: "inbox replay",
  params: { event: InboundEventId },
  fields: { organization: required(OrganizationId) },
  run: Effect.fnUntraced(function* ({ event, organization }) {
    yield* (yield* InboxRepository).replay(organization, event)
    return {
      to: `/inbox/${encodeURIComponent(event)}?organization=${organization}`,
      notice: "The event waits to be applied again.",
    }
  }),
})
