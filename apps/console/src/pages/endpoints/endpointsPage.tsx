import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { formatCapped, formatCount, formatDuration, formatMillis, formatShare } from "@outreach/backoffice/format"
import { endpoints } from "@outreach/backoffice/lists/endpoints"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { HOUR_MS } from "../../components/charts/Histogram.tsx"
import { Noted, StatusBadge } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"

export const endpointsRoutes = listPage("/endpoints", endpoints, {
  read: ({ filter: { organizationId }, context: { now } }) => {
    const period = { from: fromUnixMillis(now - 24 * HOUR_MS), to: fromUnixMillis(now) }
    return Effect.map(
      DeliveryOutcomeReader.use(({ summaries }) => summaries({ ...period, ...(organizationId && { organizationId }) })),
      (outcomes) => ({ outcomes }),
    )
  },
  cells: {
    state: (endpoint) => <EndpointBadge endpoint={endpoint} />,
    calls: ({ id }, { outcomes }) => formatCount(outcomes.get(id)?.calls ?? 0),
    accepted: ({ id }, { outcomes }) => {
      const { delivered = 0, calls = 0 } = outcomes.get(id) ?? {}
      return formatShare(delivered / calls)
    },
    p99Ms: ({ id }, { outcomes }) => {
      const { p99Ms = null } = outcomes.get(id) ?? {}
      return p99Ms === null ? "–" : formatMillis(p99Ms)
    },
    lagSeconds: ({ lagEvents, lagSeconds }) =>
      lagEvents === 0 ? (
        "–"
      ) : (
        <Noted note={`${formatCapped(lagEvents, LIST_COUNT_CAP)} pending`}>{formatDuration(lagSeconds)}</Noted>
      ),
  },
})

export const EndpointBadge = (props: { readonly endpoint: EndpointStatus }) => {
  const { tone, word } = endpointState(props.endpoint)
  return <StatusBadge tone={tone}>{word}</StatusBadge>
}
