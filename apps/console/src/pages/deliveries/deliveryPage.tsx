import { DeliveryReader, describeEmptyResponse } from "@outreach/backoffice/deliveries/DeliveryReader"
import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { describeMissingLine, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { EventReader } from "@outreach/backoffice/events/EventReader"
import { formatMillis } from "@outreach/backoffice/format"
import { replayDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { retryDeliveries, showDelivery } from "@outreach/backoffice/operations/deliveries"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DEAD_LETTER_REASONS, type DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { failureLine } from "@outreach/domain/deliveries/failureLine"
import { Effect, Struct } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, RevealForm } from "../../components/forms.tsx"
import { Facts, Items, Page, Table } from "../../components/layout.tsx"
import { ClinicianOf, Content, ForeignBlock, IdLink, Time } from "../../components/values.tsx"
import { endpointName } from "../../http/listObjects.ts"
import { operationAction } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { DeliveryState, FailureSentence } from "./deliveriesPage.tsx"

const retryAction = operationAction("/deliveries/:delivery/retry", retryDeliveries, {
  omit: ["endpointId", "groupId", "rate"],
})
export const replayAction = operationAction("/deliveries/replay", replayDeadLetters, {
  omit: Struct.keys(Struct.omit(replayDeadLetters.input, ["deliveryId"])),
  requires: ["deliveryId"],
  to: ({ deliveryId: [id = ""] = [] }) => `/deliveries/${id}`,
})

const pages = defineMaskedPage("/deliveries/:delivery", showDelivery, {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ delivery: id }, masking) {
    const { isShown } = masking
    const { delivery, attempts, retryDelays, request } = yield* (yield* DeliveryReader).findSigned(id)
    const maxAttempts = maxAttemptsOf(delivery, retryDelays ?? (yield* ConsoleConfig).webhookRetryDelays.delays)
    const group = yield* (yield* FailureGroupReader).findOf(id)
    const event = yield* (yield* EventReader).find(delivery.eventId, delivery.organizationId)
    const endpoint = yield* (yield* EndpointRepository).find(delivery.endpointId)
    const organization = yield* (yield* OrganizationReader).find(delivery.organizationId)
    const isDead =
      DEAD_LETTER_REASONS.some((reason) => reason === delivery.state) &&
      delivery.replayedAs === null &&
      endpoint.removedAt === null
    const waits = delivery.state === "pending" && delivery.attempts > 0
    const params = { delivery: id }
    return (
      <Page
        title={`Delivery of ${delivery.eventType ?? "a deleted event"}`}
        state={<DeliveryState {...delivery} />}
        id={id}
        commands={[
          ["deliveries show", id, { reveal: isShown }],
          waits && ["deliveries retry", id],
          isDead && ["dead-letters replay", id],
        ]}
      >
        <DeliveryStatus delivery={delivery} endpoint={endpoint} line={failureLine(attempts.at(-1)?.response ?? null)} />
        <Facts
          facts={{
            "Next attempt": delivery.state === "pending" && { at: delivery.dueAt },
            Attempts: `${delivery.attempts}${maxAttempts === null ? "" : ` of ${maxAttempts}`}`,
            Event: (
              <>
                {delivery.eventType === null && "deleted after EVENTS_MONTHS, so it can't be sent again"}{" "}
                <IdLink id={delivery.eventId} />
              </>
            ),
            Clinician: event?.recipientId && <ClinicianOf {...event} />,
            Campaign: event && { id: event.campaignId, name: event.campaignName },
            Endpoint: { id: endpoint.id, name: endpointName({ id: endpoint.id, url: request.url }) },
            Organization: organization,
            Created: { at: delivery.createdAt },
            Finished: delivery.finishedAt && { at: delivery.finishedAt },
            "Replayed as": delivery.replayedAs && { id: delivery.replayedAs },
            Issue: group && { id: group.id, name: group.firstLine ?? `Failures: ${describeMissingLine(group)}` },
          }}
        />
        <div class="actions">
          {waits && <ActionForm action={retryAction} params={params} label="Retry now" isPrimary />}
          {isDead && delivery.eventType !== null && (
            <ActionForm action={replayAction} label="Replay" hidden={params} isPrimary />
          )}
        </div>
        <Table
          title="Attempts"
          rows={attempts}
          empty="No attempts yet."
          columns={{
            Attempt: { number: ({ number }) => number },
            Outcome: (each) => ({ tone: each.outcome === "success" ? "good" : "bad", word: describeOutcome(each) }),
            Reason: ({ outcome }) => outcome.replaceAll("_", " "),
            Started: ({ startedAt }) => ({ at: startedAt }),
            "Signed with": ({ signedWith }) => <Items of={signedWith.map((id) => ({ id }))} />,
            Latency: { number: ({ latencyMs }) => formatMillis(latencyMs) },
            Response: ({ status, response }) => {
              if (!response) return describeEmptyResponse({ status, response })
              return isShown ? <ForeignBlock>{response}</ForeignBlock> : <Content isShown={false}>{response}</Content>
            },
          }}
        />
        <h2>Request</h2>
        <ForeignBlock>{`POST ${request.url}`}</ForeignBlock>
        {request.body === null ? (
          <p>The event's body was deleted.</p>
        ) : (
          <Content isShown={isShown}>{request.body}</Content>
        )}
        <RevealForm {...masking} label="Show the body and the responses">
          <p>They may contain personal data. The audit log records this view.</p>
        </RevealForm>
      </Page>
    )
  }),
})

export const deliveryRoutes = [...pages, retryAction, replayAction] as const

/** States whether a webhook arrived, or the reason why not. */
const DeliveryStatus = (props: {
  readonly delivery: DeliverySummary
  readonly endpoint: EndpointStatus
  /** The first line of the response to the last failed attempt. */
  readonly line: string | null
}) => {
  const { state, dueAt, finishedAt, replayedAs, lastOutcome: outcome, lastStatus: status } = props.delivery
  const cause = outcome === null ? null : <FailureSentence status={status} outcome={outcome} firstLine={props.line} />
  if (state === "delivered") {
    return (
      <p>
        Delivered <Time at={finishedAt} />: the endpoint returned {status}.
      </p>
    )
  }
  if (replayedAs !== null) {
    return (
      <p>
        Not delivered. {cause} It was replayed as <IdLink id={replayedAs} />; see that delivery for the result.
      </p>
    )
  }
  if (state === "cancelled") return <p class="problem">Cancelled because its endpoint was removed.</p>
  if (state === "sending") return <p>A worker is calling the endpoint.</p>
  if (state === "pending") {
    const { word, tone, sentence } = endpointState(props.endpoint)
    return (
      <p class="problem">
        Not delivered yet. {cause}{" "}
        {tone !== "good" && (
          <>
            The <IdLink id={props.endpoint.id}>endpoint</IdLink> is {word.toLowerCase()}: {sentence}{" "}
          </>
        )}
        {props.endpoint.enabled && (
          <>
            {props.endpoint.owner === null && "No worker serves the endpoint now. "}The next attempt is due at{" "}
            <Time at={dueAt} />.
          </>
        )}
      </p>
    )
  }
  return (
    <p class="problem">
      Not delivered, without further retries. {cause} {ENDINGS[state]}{" "}
      {props.endpoint.removedAt === null
        ? "Fix the cause, then replay it."
        : "Its endpoint was removed, so it can’t be replayed."}
    </p>
  )
}

const ENDINGS = {
  rejected: "This response isn't retried.",
  exhausted: "All scheduled attempts failed.",
  poison: "Workers crashed repeatedly while sending it.",
} as const
