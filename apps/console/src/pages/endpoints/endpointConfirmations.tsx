import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { formatCapped, formatCounted } from "@outreach/backoffice/format"
import { field } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { describeRemoval } from "@outreach/domain/deliveries/describeRemoval"
import { EndpointRemoved, EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Effect, Schema } from "effect"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"

const askAbout = Effect.fnUntraced(function* (id: EndpointId, command: "disable" | "enable" | "remove") {
  const endpoint = yield* (yield* EndpointRepository).find(id)
  const organization = yield* (yield* OrganizationReader).find(endpoint.organizationId)
  return {
    endpoint,
    organization,
    ...(endpoint.removedAt !== null && {
      obstacle: new EndpointRemoved({ endpointId: id, removedAt: endpoint.removedAt }).message,
    }),
    commands: [ops(`endpoints ${command}`, id)],
    back: `/endpoints/${id}`,
    many: `${formatCapped(endpoint.waiting, COUNT_CAP)} pending deliveries`,
    whom: (
      <>
        <IdLink id={id}>{endpoint.url}</IdLink> of <IdLink id={organization.id}>{organization.name}</IdLink>
      </>
    ),
  }
})

export const disableRoutes = defineConfirmation("/endpoints/:endpoint/disable", "endpoints disable", {
  role: "admin",
  ask: ({ endpoint }) =>
    Effect.map(askAbout(endpoint, "disable"), (asked) => ({
      ...asked,
      title: "Disable the endpoint?",
      label: "Disable",
      when: "Immediately. New events are queued until it is enabled.",
    })),
  run: Effect.fnUntraced(function* ({ endpoint }) {
    yield* (yield* EndpointRepository).disable(endpoint)
    return "Disabled. Its deliveries are queued until it is enabled."
  }),
})

export const enableRoutes = defineConfirmation("/endpoints/:endpoint/enable", "endpoints enable", {
  role: "admin",
  inputs: { "replay-missed": field(Schema.Literal("true"), "Missed events", { kind: "boxes" }) },
  ask: Effect.fnUntraced(function* ({ endpoint: id }) {
    const asked = yield* askAbout(id, "enable")
    const { count, since } = yield* (yield* DeadLetterReader).missedBy(id)
    const send = `Send ${formatCounted(count, "missed event")}`
    return {
      ...asked,
      title: "Enable the endpoint?",
      label: "Enable",
      when: "Immediately. Earlier failures no longer count.",
      facts: { "Missed since": since && <Time at={since} /> },
      controls: { "replay-missed": since !== null && { options: [["true", send]] } },
    }
  }),
  run: Effect.fnUntraced(function* ({ endpoint, ...given }) {
    const { count, since: from } = yield* (yield* DeadLetterReader).missedBy(endpoint)
    const isReplayed = from !== null && given["replay-missed"] !== undefined
    // Before it is enabled: replayed events wait, and none is lost if the request ends here.
    if (isReplayed) yield* createDeadLetterReplay({ endpointId: endpoint, from }, DEFAULT_REPLAYS_PER_SECOND)
    yield* (yield* EndpointRepository).enable(endpoint)
    return isReplayed
      ? `Enabled. ${formatCounted(count, "missed event")} will be sent once.`
      : "Enabled. Earlier failures no longer count."
  }),
})

export const removeRoutes = defineConfirmation("/endpoints/:endpoint/remove", "endpoints remove", {
  role: "admin",
  ask: ({ endpoint: id }) =>
    Effect.map(askAbout(id, "remove"), (asked) => ({
      ...asked,
      title: "Remove the endpoint?",
      label: "Remove permanently",
      many: describeRemoval(asked.endpoint),
      when: "Immediately. Pending deliveries are cancelled within seconds.",
      typed: {
        word: asked.organization.name,
        because:
          "This can't be undone. Its separate signing secrets are deleted, its replays are cancelled, and the partner's webhooks to it are rejected.",
      },
    })),
  run: ({ endpoint: id }) =>
    Effect.as(removeEndpoint(id), {
      to: `/endpoints/${id}`,
      notice: "Removed. Pending deliveries are cancelled within seconds.",
    }),
})
