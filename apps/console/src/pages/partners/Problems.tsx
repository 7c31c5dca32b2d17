import {
  type HourlyRequests,
  type PollerStatus,
  totalOf,
} from "@outreach/backoffice/organizations/PartnerActivityReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import type { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { ForeignText } from "../../components/values.tsx"
import { endpointState } from "../endpoints/endpointState.tsx"

/** A poller is late if a row has waited for it longer than this. */
export const LATE_SECONDS = 900

/** What is wrong with a partner, each with where to look. */
export const Problems = (props: {
  readonly endpoints: ReadonlyArray<EndpointStatus>
  readonly keys: ReadonlyArray<ApiKey>
  readonly pollers: ReadonlyArray<PollerStatus>
  /** Of the last 24 hours. */
  readonly requests: ReadonlyArray<HourlyRequests>
}) => {
  const nameOf = (id: string) => props.keys.find((key) => key.id === id)?.name ?? id
  const badSignatures = totalOf(props.requests.filter(({ code }) => code === "INVALID_SIGNATURE")).requests
  const limited = totalOf(props.requests.filter(({ code }) => code === "RATE_LIMITED")).requests
  const problems = [
    ...props.endpoints.flatMap((endpoint) => {
      const { tone, word, sentence } = endpointState(endpoint)
      return tone === "good"
        ? []
        : [{ href: `/endpoints/${endpoint.id}`, text: `${endpoint.url}: ${word}. ${sentence}` }]
    }),
    ...props.pollers
      .filter(({ lagRows, lagSeconds }) => lagRows > 0 && lagSeconds > LATE_SECONDS)
      .map(({ keyId, lagRows, lagSeconds }) => ({
        href: "#pollers",
        text: `${nameOf(keyId)} has not read ${formatCapped(lagRows, LIST_COUNT_CAP)} rows, the first for ${formatDuration(lagSeconds)}.`,
      })),
    ...(badSignatures > 0
      ? [{ href: "#inbound", text: `${formatCount(badSignatures)} webhooks had a bad signature in the last 24 hours.` }]
      : []),
    ...(limited > 0
      ? [{ href: "#requests", text: `${formatCount(limited)} requests were over the limit in the last 24 hours.` }]
      : []),
  ]
  return problems.length === 0 ? (
    <p>Nothing is wrong with this partner.</p>
  ) : (
    <ul class="problems">
      {problems.map(({ href, text }) => (
        <li key={text}>
          <a href={href}>
            <ForeignText>{text}</ForeignText>
          </a>
        </li>
      ))}
    </ul>
  )
}
