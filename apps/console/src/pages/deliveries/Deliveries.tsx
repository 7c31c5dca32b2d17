import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { Table } from "../../components/lists.tsx"
import { Countdown, IdLink, Time } from "../../components/values.tsx"
import { DeliveryState } from "./DeliveryState.tsx"
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
