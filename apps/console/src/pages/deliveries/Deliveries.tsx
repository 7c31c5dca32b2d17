import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { Countdown } from "./Countdown.tsx"
import { DeliveryState } from "./DeliveryState.tsx"
import { EndpointLink, type Endpoints } from "./EndpointLink.tsx"

/** Rows of deliveries, each of which leads to its attempts. */
export const Deliveries = (props: {
  readonly rows: ReadonlyArray<DeliverySummary>
  readonly endpoints: Endpoints
  readonly isDead: boolean
  readonly isContinued: boolean
}) => (
  <Table<DeliverySummary>
    caption="Deliveries"
    hideCaption
    rows={props.rows}
    empty={
      props.isContinued
        ? "None of the newest deliveries fits. The next page looks further back."
        : "No delivery fits. An event on its way to an endpoint would stand here, with its attempts."
    }
    columns={[
      { header: "Delivery", cell: ({ id }) => <IdLink id={id} /> },
      { header: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
      { header: "Type", cell: ({ eventType }) => eventType ?? "no longer stored" },
      { header: "Endpoint", cell: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={props.endpoints} /> },
      { header: "Attempts", numeric: true, cell: ({ attempts }) => formatCount(attempts) },
      { header: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
      props.isDead
        ? { header: "Died", cell: ({ finishedAt }) => <Time at={finishedAt} /> }
        : {
            header: "Next attempt",
            cell: ({ state, dueAt }) => (state === "pending" ? <Countdown until={dueAt} /> : "–"),
          },
    ]}
  />
)
