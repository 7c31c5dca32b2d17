import { OrganizationId } from "@outreach/domain/Identifier"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Effect, Schema } from "effect"
import { formatCounted } from "../../components/format.ts"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"

/** Lets every quarantined event of an organization be applied again. */
export const replayInbox = defineAction({
  path: "/inbox/replay",
  role: "operator",
  command: "inbox replay",
  fields: { organization: required(OrganizationId), all: required(Schema.Literal("true")) },
  run: Effect.fnUntraced(function* ({ organization }) {
    const replayed = yield* (yield* InboxRepository).replayAll(organization)
    return {
      to: `/inbox?organization=${organization}&state=waiting`,
      notice: `${formatCounted(replayed, "event waits", "events wait")} to be applied again.`,
    }
  }),
})

export const replayInboxEvent = defineAction({
  path: "/inbox/:event/replay",
  role: "operator",
  command: "inbox replay",
  fields: { organization: required(OrganizationId) },
  run: Effect.fnUntraced(function* ({ event, organization }) {
    yield* (yield* InboxRepository).replay(organization, event)
    return {
      to: `/inbox/${encodeURIComponent(event)}?organization=${organization}`,
      notice: "The event waits to be applied again.",
    }
  }),
})
