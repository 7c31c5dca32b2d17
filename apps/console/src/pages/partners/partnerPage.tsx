import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { HourlyRequests as HourlyCount } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { PartnerActivityReader, type PollerStatus } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatDuration } from "../../components/format.ts"
import { Facts, Table } from "../../components/lists.tsx"
import { ForeignText, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge } from "../endpoints/endpointState.tsx"
import { HourlyRequests, INBOUND_WEBHOOKS, KEY_REQUESTS, SHOWN_HOURS } from "./HourlyRequests.tsx"
import { Keys } from "./Keys.tsx"
import { LATE_SECONDS, Problems } from "./Problems.tsx"
import { readSecrets } from "./Secrets.tsx"

/** For how many hours the tables count requests. */
const COUNTED_HOURS = 24

/** One partner: its keys, its pollers, what it sends, and its secrets. */
export const partnerPage = definePage({
  path: "/partners/:organization",
  run: Effect.fnUntraced(function* ({ organization: id }, { now }) {
    const organization = yield* (yield* OrganizationReader).find(id)
    const endpoints = yield* (yield* EndpointRepository).list(id)
    const keys = yield* (yield* ApiKeyRepository).list(id)
    const activity = yield* PartnerActivityReader
    const rows = yield* activity.hourlyRequests(id, SHOWN_HOURS)
    const windowUse = yield* activity.windowUse(id)
    const pollers = yield* activity.pollers(id)
    const secrets = yield* readSecrets(organization)
    const recent = rows.filter(({ hour }) => toUnixMillis(hour) > now - COUNTED_HOURS * 3_600_000)
    const sentBy = (prefix: string) => rows.filter(({ callerId }) => callerId.startsWith(prefix))
    return {
      title: <ForeignText>{organization.name}</ForeignText>,
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
            columns={{
              Address: ({ id, url }) => <IdLink id={id}>{url}</IdLink>,
              State: (endpoint) => <EndpointBadge endpoint={endpoint} />,
              "Not read yet": { count: ({ lagEvents }) => lagEvents, cap: LIST_COUNT_CAP },
            }}
          />
          <Keys
            organizationId={id}
            keys={keys}
            requests={recent.filter(({ callerId }) => callerId.startsWith("key_"))}
            windowUse={windowUse}
          />
          <section id="requests">
            <h2>Requests</h2>
            <HourlyRequests kind={KEY_REQUESTS} rows={sentBy("key_")} empty="The partner has asked for nothing." />
            <Errors rows={recent} keys={keys} />
          </section>
          <Pollers pollers={pollers} keys={keys} />
          <section id="inbound">
            <h2>What the partner sends</h2>
            <HourlyRequests kind={INBOUND_WEBHOOKS} rows={sentBy("whe_")} empty="The partner has sent no webhooks." />
          </section>
          {secrets}
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
      columns={{
        Code: ({ code }) => <code>{code}</code>,
        Caller: ({ callerId }) => <CallerName id={callerId} keys={props.keys} />,
        Requests: { count: ({ requests }) => requests },
        "Last in the hour": ({ last }) => <Time at={last} />,
      }}
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
      columns={{
        Key: ({ keyId }) => <CallerName id={keyId} keys={props.keys} />,
        List: ({ list, types }) => `${LISTS[list]}${types === null ? "" : `: ${types.join(", ")}`}`,
        State: (poller) => <PollerBadge {...poller} />,
        "Not read yet": { count: ({ lagRows }) => lagRows, cap: LIST_COUNT_CAP },
        "Behind the feed": {
          number: ({ lagRows, lagSeconds }) => (lagRows === 0 ? "–" : formatDuration(lagSeconds)),
        },
        "Read up to": ({ at }) => <Time at={at} />,
        "Last page": ({ readAt }) => <Time at={readAt} />,
      }}
    />
  </section>
)

const PollerBadge = ({ lagRows, lagSeconds, hasMore }: PollerStatus) => {
  if (lagRows === 0) return <StatusBadge tone="good">Has read all</StatusBadge>
  if (lagSeconds > LATE_SECONDS) return <StatusBadge tone="warning">Behind</StatusBadge>
  return <StatusBadge tone="neutral">{hasMore ? "Reading" : "Newer rows"}</StatusBadge>
}
