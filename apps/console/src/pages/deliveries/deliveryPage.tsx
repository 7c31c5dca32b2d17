import { DeliveryReader, type DeliveryRequest } from "@outreach/backoffice/deliveries/DeliveryReader"
import { type FailureGroup, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { type Attempt, DEAD_LETTER_REASONS, type DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import type { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import type { DeliveryId } from "@outreach/domain/Identifier"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Content } from "../../components/Content.tsx"
import { formatMillis } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Facts, Table } from "../../components/lists.tsx"
import { Countdown, ForeignBlock, ForeignText, IdLink, Time } from "../../components/values.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { AttemptOutcome, DeliveryState } from "./DeliveryState.tsx"
import { replayDelivery, retryDelivery } from "./deliveryActions.ts"
import { EndpointLink } from "./EndpointLink.tsx"

/** `/deliveries/:delivery`: a delivery with its attempts side by side, without personal data. */
export const deliveryPage = definePage({
  path: "/deliveries/:delivery",
  read: ({ delivery }) => contentOf(delivery, { isShown: false }),
})

/** Shows what is sent of a delivery, and what the partner answered. */
export const showDelivery = defineAction({
  path: "/deliveries/:delivery/show",
  role: "operator",
  command: "deliveries request",
  run: ({ delivery }) => contentOf(delivery, { isShown: true }),
})

const contentOf = Effect.fnUntraced(function* (id: DeliveryId, { isShown }: { readonly isShown: boolean }) {
  const deliveries = yield* DeliveryReader
  const { delivery, attempts } = yield* deliveries.find(id)
  const [request, group] = yield* Effect.all([deliveries.request(delivery), (yield* FailureGroupReader).findOf(id)], {
    concurrency: "unbounded",
  })
  const isDead = isDeadLetter(delivery)
  const waits = delivery.state === "pending" && delivery.attempts > 0
  const params = { delivery: id }
  return {
    title: `Delivery ${id}`,
    commands: [
      `ops deliveries show ${id}`,
      ...(isShown ? [`ops deliveries request ${id}`] : []),
      ...(waits ? [`ops deliveries retry ${id}`] : []),
      ...(isDead ? [`ops dead-letters replay ${id}`] : []),
    ],
    body: (
      <>
        <DeliveryFacts delivery={delivery} url={request.url} group={group} />
        <div class="actions">
          {waits && <ActionForm action={retryDelivery} params={params} label="Retry now" />}
          {isDead && delivery.eventType !== null && (
            <ActionForm action={replayDelivery} hidden={params} label="Replay" />
          )}
        </div>
        <h2>Attempts</h2>
        <Attempts attempts={attempts} isShown={isShown} />
        <h2>Request</h2>
        <Request delivery={delivery} request={request} attempt={attempts.at(-1)} isShown={isShown} />
        {!isShown && (
          <ActionForm action={showDelivery} params={params} label="Show the body and the responses">
            <p>They may hold personal data. The audit log records that you looked.</p>
          </ActionForm>
        )}
      </>
    ),
  }
})

const isDeadLetter = ({ state, replayedAs }: DeliverySummary): boolean =>
  DEAD_LETTER_REASONS.some((reason) => reason === state) && replayedAs === null

const DeliveryFacts = (props: {
  readonly delivery: DeliverySummary
  readonly url: ShownUrl
  readonly group: FailureGroup | null
}) => {
  const { delivery, group } = props
  return (
    <Facts
      facts={{
        State: <DeliveryState {...delivery} />,
        "Next attempt": delivery.state === "pending" && <Countdown until={delivery.dueAt} />,
        Attempts: String(delivery.attempts),
        Event: (
          <>
            {delivery.eventType ?? "no longer stored (EVENTS_MONTHS), so it cannot be sent again"}{" "}
            <IdLink id={delivery.eventId} />
          </>
        ),
        Endpoint: <EndpointLink id={delivery.endpointId} endpoints={new Map([[delivery.endpointId, props.url]])} />,
        Organization: <IdLink id={delivery.organizationId} />,
        Created: <Time at={delivery.createdAt} />,
        Finished: delivery.finishedAt && <Time at={delivery.finishedAt} />,
        "Replayed as": delivery.replayedAs && <IdLink id={delivery.replayedAs} />,
        Issue: group && (
          <a href={`/issues/${group.id}`}>
            <ForeignText>{group.firstLine ?? "Failures without a text"}</ForeignText>
          </a>
        ),
      }}
    />
  )
}

const Attempts = (props: { readonly attempts: ReadonlyArray<Attempt>; readonly isShown: boolean }) => (
  <Table
    caption="Attempts"
    hideCaption
    rows={props.attempts}
    empty="No attempt was made yet. Each would stand here with its status, latency and response."
    columns={{
      Attempt: { count: ({ number }) => number },
      Outcome: (attempt) => <AttemptOutcome {...attempt} />,
      Why: ({ outcome }) => outcome.replaceAll("_", " "),
      "Started and signed": ({ startedAt }) => <Time at={startedAt} />,
      Latency: { number: ({ latencyMs }) => (latencyMs === null ? "–" : formatMillis(latencyMs)) },
      Response: ({ response }) =>
        response === null ? "none" : <ResponseText isShown={props.isShown}>{response}</ResponseText>,
    }}
  />
)

const ResponseText = (props: { readonly isShown: boolean; readonly children: string }) =>
  props.isShown ? <ForeignBlock>{props.children}</ForeignBlock> : <Content isShown={false}>{props.children}</Content>

const Request = (props: {
  readonly delivery: DeliverySummary
  readonly request: DeliveryRequest
  readonly attempt: Attempt | undefined
  readonly isShown: boolean
}) => {
  const { delivery, request, attempt } = props
  const signedAt = attempt === undefined ? "…" : Math.floor(toUnixMillis(attempt.startedAt) / 1000)
  const headers = [
    `POST ${request.url}`,
    "Content-Type: application/json",
    `X-Delivery-Id: ${delivery.id}`,
    `X-Delivery-Attempt: ${attempt?.number ?? 1}`,
    `X-Signature: t=${signedAt},v1=…`,
    ...(request.standardWebhooks
      ? [`webhook-id: ${delivery.eventId}`, `webhook-timestamp: ${signedAt}`, "webhook-signature: v1,…"]
      : []),
  ]
  return (
    <>
      <p>
        The headers {attempt === undefined ? "of the first attempt" : `of attempt ${attempt.number}`}. Signatures are
        made for each attempt and kept nowhere.
      </p>
      <ForeignBlock>{headers.join("\n")}</ForeignBlock>
      {request.body === null ? (
        <p>The event's body is no longer stored.</p>
      ) : (
        <Content isShown={props.isShown}>{request.body}</Content>
      )}
    </>
  )
}
