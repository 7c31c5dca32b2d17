import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { formatCount, formatMillis } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { field } from "@outreach/backoffice/operations/Field"
import type { Attempt, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { describeOutcome, explainFailure } from "@outreach/domain/deliveries/describeCause"
import type { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointId, type OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Chips, Table } from "../../components/layout.tsx"
import { foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"

export const Deliveries = (props: {
  readonly rows: ReadonlyArray<DeliverySummary>
  readonly endpoints: Endpoints
  readonly isDead: boolean
  readonly isContinued: boolean
}) => (
  <Table
    label="Deliveries"
    rows={props.rows}
    empty={
      props.isContinued
        ? "None of the newest deliveries matches. Older ones are on the next page."
        : "No delivery matches. Change the filters or extend the time range."
    }
    columns={{
      Delivery: ({ id }) => <IdLink id={id} />,
      State: (delivery) => <DeliveryState {...delivery} />,
      Type: ({ eventType }) => eventType ?? "deleted",
      Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={props.endpoints} />,
      Attempts: { count: ({ attempts }) => attempts },
      "Last attempt": ({ lastStatus: status, lastOutcome: outcome }) =>
        outcome !== null && <Outcome {...{ status, outcome }} />,
      Latency: { number: ({ lastLatencyMs }) => (lastLatencyMs === null ? "–" : formatMillis(lastLatencyMs)) },
      Created: ({ createdAt }) => <Time at={createdAt} />,
      "Given up": props.isDead && (({ finishedAt }) => <Time at={finishedAt} />),
      "Next attempt":
        !props.isDead && (({ state, dueAt }) => (state === "pending" ? <Time at={dueAt} isShort /> : "–")),
    }}
  />
)

/** An attempt's status, or the reason for a missing one. */
export const Outcome = (attempt: Pick<Attempt, "status" | "outcome">) => (
  <StatusBadge tone={attempt.outcome === "success" ? "good" : "bad"}>{describeOutcome(attempt)}</StatusBadge>
)

/** The reason of a failed call as a sentence, with the first line of its response. */
export const FailureSentence = ({
  firstLine,
  ...failure
}: Pick<Attempt, "status" | "outcome"> & { readonly firstLine: string | null }) => (
  <>
    {explainFailure(failure)}
    {firstLine !== null && foreign`: ${firstLine}`}.
  </>
)

const TONES: Readonly<Record<DeliverySummary["state"], Tone>> = {
  pending: "warning",
  sending: "neutral",
  delivered: "good",
  cancelled: "neutral",
  rejected: "bad",
  exhausted: "bad",
  poison: "bad",
}

export const DeliveryState = ({ state, replayedAs }: Pick<DeliverySummary, "state" | "replayedAs">) => (
  <>
    <StatusBadge tone={replayedAs === null ? TONES[state] : "neutral"}>{state}</StatusBadge>
    {replayedAs !== null && " replayed"}
  </>
)

/** Links that filter dead letters by the status of the last attempt. */
export const StatusChips = (props: {
  readonly label: string
  readonly statuses: ReadonlyArray<{ readonly status: number | null; readonly count: number }>
  readonly chosen: number | undefined
  readonly address: string
  readonly needs?: Readonly<Record<string, string>>
}) =>
  props.statuses.length === 0 ? null : (
    <Chips
      label={props.label}
      address={props.address}
      chips={[
        { text: "Any status", query: { status: undefined }, isChosen: props.chosen === undefined },
        ...props.statuses.map(
          ({ status, count }) =>
            status !== null && {
              text: `${status}: ${formatCount(count)}`,
              query: { status, ...props.needs },
              isChosen: status === props.chosen,
            },
        ),
      ]}
    />
  )

export type Endpoints = ReadonlyMap<EndpointId, ShownUrl>

export const readEndpoints = Effect.fnUntraced(function* (organizationId: OrganizationId | undefined) {
  const endpoints = yield* (yield* DeliveryReader).endpoints(organizationId)
  return new Map(endpoints.map(({ id, url }) => [id, url]))
})

export const EndpointLink = (props: { readonly id: EndpointId; readonly endpoints: Endpoints }) => {
  const url = props.endpoints.get(props.id)
  return url === undefined ? <IdLink id={props.id} /> : <IdLink id={props.id}>{hostOf(url)}</IdLink>
}

/** The endpoint of a list, and the choices of the page. */
export const endpointFilter = field(EndpointId, "Endpoint", { kind: "choice", all: "All" })
export const endpointOptions = (endpoints: Endpoints) => ({
  options: Array.from(endpoints, ([id, url]) => [id, `${hostOf(url)} (…${id.slice(-4)})`] as const),
})

const hostOf = (url: ShownUrl): string => URL.parse(url)?.host ?? url
