import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import {
  type HourlyRequests as HourlyCount,
  PartnerActivity,
  type PollerStatus,
} from "@outreach/postgres/organizations/PartnerActivity"
import { Effect } from "effect"
import { Facts } from "../../components/Facts.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge } from "../endpoints/endpointState.tsx"
import { HourlyRequests } from "./HourlyRequests.tsx"
import { Keys } from "./Keys.tsx"
import { LATE_SECONDS, Problems } from "./Problems.tsx"
import { Secrets } from "./Secrets.tsx"

/** For how many hours the charts show what was asked. */
const HOURS = 48
/** For how many hours the tables count it. */
const COUNTED_HOURS = 24

/** One partner: its keys, its pollers, what it sends, and its secrets. */
export const partnerPage = definePage({
  path: "/partners/:organization",
  section: "partners",
  role: "viewer",
  params: { organization: OrganizationId },
  query: {},
  read: Effect.fnUntraced(function* ({ organization: id }, { now }) {
    const organization = yield* (yield* OrganizationRepository).find(id)
    const endpoints = yield* (yield* EndpointRepository).list(id)
    const keys = yield* (yield* ApiKeyRepository).list(id)
    const activity = yield* PartnerActivity
    const rows = yield* activity.hourlyRequests(id, HOURS)
    const windowUse = yield* activity.windowUse(id)
    const pollers = yield* activity.pollers(id)
    const repository = yield* SigningSecretRepository
    const secrets = yield* repository.list(id)
    const verifications = yield* repository.verifications(id)
    const recent = rows.filter(({ hour }) => toUnixMillis(hour) > now - COUNTED_HOURS * 3_600_000)
    const [ofKeys, ofEndpoints] = [
      rows.filter(({ callerId }) => callerId.startsWith("key_")),
      rows.filter(({ callerId }) => callerId.startsWith("whe_")),
    ]
    return {
      title: organization.name,
      heading: <ForeignText>{organization.name}</ForeignText>,
      commands: [
        `ops organizations show --organization ${id}`,
        `ops keys list --organization ${id}`,
        `ops secrets list --organization ${id}`,
      ],
      body: (
        <>
          <Problems endpoints={endpoints} keys={keys} pollers={pollers} requests={recent} />
          <Facts facts={{ Partner: <code>{id}</code>, Since: <Time at={organization.createdAt} /> }} />
          <Table
            caption="Endpoints"
            rows={endpoints}
            empty="No endpoint: the partner is sent no webhooks."
            columns={[
              { header: "Address", cell: ({ id, url }) => <IdLink id={id}>{url}</IdLink> },
              { header: "State", cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
              {
                header: "Not read yet",
                numeric: true,
                cell: ({ lagEvents }) => formatCapped(lagEvents, LIST_COUNT_CAP),
              },
            ]}
          />
          <Keys
            organizationId={id}
            keys={keys}
            requests={recent.filter(({ callerId }) => callerId.startsWith("key_"))}
            windowUse={windowUse}
          />
          <section id="requests">
            <h2>Requests</h2>
            <HourlyRequests
              title={`Requests with a key by the hour, last ${HOURS} hours`}
              rows={ofKeys}
              hours={HOURS}
              now={now}
              series={[
                { name: "answered", color: "var(--good)" },
                { name: "over the limit", color: "var(--warning)" },
                { name: "other errors", color: "var(--bad)" },
              ]}
              seriesOf={(code) =>
                code === "" ? "answered" : code === "RATE_LIMITED" ? "over the limit" : "other errors"
              }
              empty="The partner has asked for nothing."
            />
            <Errors rows={recent} keys={keys} />
          </section>
          <Pollers pollers={pollers} keys={keys} />
          <section id="inbound">
            <h2>What the partner sends</h2>
            <HourlyRequests
              title={`Webhooks from the partner by the hour, last ${HOURS} hours`}
              rows={ofEndpoints}
              hours={HOURS}
              now={now}
              series={[
                { name: "accepted", color: "var(--good)" },
                { name: "bad signature", color: "var(--bad)" },
                { name: "refused otherwise", color: "var(--warning)" },
              ]}
              seriesOf={(code) =>
                code === "" ? "accepted" : code === "INVALID_SIGNATURE" ? "bad signature" : "refused otherwise"
              }
              empty="The partner has sent no webhooks."
            />
          </section>
          <Secrets
            organizationId={id}
            organizationName={organization.name}
            secrets={secrets}
            verifications={verifications}
          />
        </>
      ),
    }
  }),
})

const Errors = (props: { readonly rows: ReadonlyArray<HourlyCount>; readonly keys: ReadonlyArray<ApiKey> }) => {
  const byCode = new Map<
    string,
    { code: string; callerId: HourlyCount["callerId"]; requests: number; last: HourlyCount["hour"] }
  >()
  for (const { code, callerId, requests, hour } of props.rows) {
    if (code === "") continue
    const counted = byCode.get(`${code} ${callerId}`)
    byCode.set(`${code} ${callerId}`, { code, callerId, requests: requests + (counted?.requests ?? 0), last: hour })
  }
  return (
    <Table
      caption={`Errors by code, last ${COUNTED_HOURS} hours`}
      rows={[...byCode.values()].sort((a, b) => b.requests - a.requests)}
      empty="No request was answered with an error."
      columns={[
        { header: "Code", cell: ({ code }) => <code>{code}</code> },
        { header: "Caller", cell: ({ callerId }) => <CallerName id={callerId} keys={props.keys} /> },
        { header: "Requests", numeric: true, cell: ({ requests }) => formatCount(requests) },
        { header: "Last in the hour", cell: ({ last }) => <Time at={last} /> },
      ]}
    />
  )
}

const CallerName = (props: { readonly id: string; readonly keys: ReadonlyArray<ApiKey> }) => {
  const key = props.keys.find(({ id }) => id === props.id)
  return key === undefined ? <IdLink id={props.id} /> : <ForeignText>{key.name}</ForeignText>
}

const LISTS = { events: "Events", tokens: "Recipients" } as const

const Pollers = (props: { readonly pollers: ReadonlyArray<PollerStatus>; readonly keys: ReadonlyArray<ApiKey> }) => (
  <section id="pollers">
    <h2>Pollers</h2>
    <Table
      caption="How far each key has read the lists"
      rows={props.pollers}
      empty="No key has read the events or the recipients."
      columns={[
        { header: "Key", cell: ({ keyId }) => <CallerName id={keyId} keys={props.keys} /> },
        { header: "List", cell: ({ list, types }) => `${LISTS[list]}${types === null ? "" : `: ${types.join(", ")}`}` },
        { header: "State", cell: (poller) => <PollerBadge poller={poller} /> },
        { header: "Not read yet", numeric: true, cell: ({ lagRows }) => formatCapped(lagRows, LIST_COUNT_CAP) },
        {
          header: "Behind the feed",
          numeric: true,
          cell: ({ lagRows, lagSeconds }) => (lagRows === 0 ? "–" : formatDuration(lagSeconds)),
        },
        { header: "Read up to", cell: ({ at }) => <Time at={at} /> },
        { header: "Last page", cell: ({ readAt }) => <Time at={readAt} /> },
      ]}
    />
  </section>
)

const PollerBadge = (props: { readonly poller: PollerStatus }) => {
  const { lagRows, lagSeconds, hasMore } = props.poller
  if (lagRows === 0) return <StatusBadge tone="good">Has read all</StatusBadge>
  if (lagSeconds > LATE_SECONDS) return <StatusBadge tone="warning">Behind</StatusBadge>
  return <StatusBadge tone="neutral">{hasMore ? "Reading" : "Newer rows"}</StatusBadge>
}
