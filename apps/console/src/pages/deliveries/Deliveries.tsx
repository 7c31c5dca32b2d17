import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { formatCount } from "../../components/format.ts"
import { Chips, Table } from "../../components/lists.tsx"
import { Countdown, IdLink, StatusBadge, Time, type Tone } from "../../components/values.tsx"
import { EndpointLink, type Endpoints } from "./EndpointLink.tsx"

/** Rows of deliveries, each of which leads to its attempts. */
export const Deliveries = (props: {
  readonly rows: ReadonlyArray<DeliverySummary>
  readonly endpoints: Endpoints
  readonly isDead: boolean
  readonly isContinued: boolean
}) => (
  <Table
    caption="Deliveries"
    hideCaption
    rows={props.rows}
    empty={
      props.isContinued
        ? "None of the newest deliveries fits. The next page looks further back."
        : "No delivery fits. An event on its way to an endpoint would stand here, with its attempts."
    }
    columns={{
      Delivery: ({ id }) => <IdLink id={id} />,
      State: (delivery) => <DeliveryState {...delivery} />,
      Type: ({ eventType }) => eventType ?? "no longer stored",
      Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={props.endpoints} />,
      Attempts: { count: ({ attempts }) => attempts },
      Created: ({ createdAt }) => <Time at={createdAt} />,
      Died: props.isDead && (({ finishedAt }) => <Time at={finishedAt} />),
      "Next attempt":
        !props.isDead && (({ state, dueAt }) => (state === "pending" ? <Countdown until={dueAt} /> : "–")),
    }}
  />
)

const TONES: Readonly<Record<DeliverySummary["state"], Tone>> = {
  pending: "warning",
  sending: "neutral",
  delivered: "good",
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

/** Links that narrow a list to dead letters whose last attempt had a status. */
export const StatusChips = (props: {
  readonly label: string
  /** How many dead letters have each status; null for those without one. */
  readonly statuses: ReadonlyArray<{ readonly status: number | null; readonly open: number }>
  readonly chosen: number | undefined
  readonly address: string
  /** What a status needs besides itself in the query. */
  readonly needs?: Readonly<Record<string, string>>
}) =>
  props.statuses.length === 0 ? null : (
    <Chips
      label={props.label}
      address={props.address}
      chips={[
        { text: "Any status", query: { status: undefined }, isChosen: props.chosen === undefined },
        ...props.statuses.map(
          ({ status, open }) =>
            status !== null && {
              text: `${status}: ${formatCount(open)}`,
              query: { status, ...props.needs },
              isChosen: status === props.chosen,
            },
        ),
      ]}
    />
  )
