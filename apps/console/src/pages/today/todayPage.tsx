import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import { type FailureGroup, FailureGroups } from "@outreach/postgres/deliveries/FailureGroups"
import {
  type GaugeSample,
  MAX_REFUSING_DOMAINS,
  type RefusingDomain,
  TodayReader,
} from "@outreach/postgres/today/TodayReader"
import { Array as Arr, Effect } from "effect"
import { Sparkline } from "../../components/charts/Sparkline.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { Tile } from "../../components/Tile.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointLink, type Endpoints } from "../deliveries/EndpointLink.tsx"
import { formatTimeOfDay, type TodayTile, todayTiles } from "./todayTiles.ts"

const MAX_ISSUES = 5

/** A quarter of an hour is a point of a line, its highest sample: more would not be seen. */
const SAMPLES_PER_POINT = 3

/** `/`: what an operator looks at first. */
export const todayPage = definePage({
  path: "/",
  section: "today",
  role: "viewer",
  params: {},
  query: {},
  read: Effect.fnUntraced(function* (_, { operator, now }) {
    const reader = yield* TodayReader
    const scope = operator.organizationId
    const { largest } = yield* FailureGroups
    const [today, samples, domains, groups, endpoints] = yield* Effect.all(
      [
        reader.read(scope),
        reader.readHistory(scope),
        reader.readRefusingDomains(scope),
        largest(scope === null ? {} : { organizationId: scope }, MAX_ISSUES),
        (yield* DeliveryRepository).endpoints(scope ?? undefined),
      ],
      { concurrency: "unbounded" },
    )
    const quotaDays = today.quota === null ? [] : yield* reader.readQuotaDays(today.quota)
    return {
      title: "Today",
      commands: ["ops status", "ops status --watch"],
      body: (
        <>
          <p>
            <small>
              Read at <span data-live="at">{formatTimeOfDay(now)}</span>. The lines show the last 24 hours, and of the
              quota 30 days.
            </small>
          </p>
          <ul class="tiles">
            {todayTiles(today).map((tile) => (
              <Tile key={tile.name} {...tile} live={tile.name}>
                <small>
                  <bdi data-live={`${tile.name}.detail`}>{tile.detail}</bdi>
                </small>
                <History tile={tile} samples={samples} quotaDays={quotaDays} />
              </Tile>
            ))}
          </ul>
          <Issues groups={groups} endpoints={new Map(endpoints.map((each) => [each.id, each]))} />
          <RefusingDomains domains={domains} />
        </>
      ),
    }
  }),
})

interface Point {
  readonly at: Date
  readonly value: number
}

/** What a tile's line shows, and of which time. */
const History = ({ tile, samples, quotaDays }: HistorySources & { readonly tile: TodayTile }) => {
  if (tile.history === undefined && tile.name !== "quota") return null
  const { unit, of } = tile.history ?? {}
  const points =
    of === undefined
      ? quotaDays.map(({ date, count }): Point => ({ at: new Date(toUnixMillis(date)), value: count }))
      : Arr.chunksOf(samples, SAMPLES_PER_POINT).flatMap((each): ReadonlyArray<Point> => {
          const values = each.map(of).filter((value) => value !== null)
          return values.length === 0 ? [] : [{ at: new Date(toUnixMillis(each[0]!.at)), value: Math.max(...values) }]
        })
  const values = points.map(({ value }) => value)
  const range = unit === undefined ? "in the last 30 days" : `in the last 24 hours, in ${unit}`
  const label = `${tile.title} ${range}: from ${formatCount(values[0] ?? 0)} to ${formatCount(values.at(-1) ?? 0)}, at most ${formatCount(Math.max(0, ...values))}`
  return <Sparkline label={label} points={points} />
}

interface HistorySources {
  readonly samples: ReadonlyArray<GaugeSample>
  readonly quotaDays: ReadonlyArray<{ readonly date: Timestamp; readonly count: number }>
}

const Issues = ({
  groups,
  endpoints,
}: {
  readonly groups: ReadonlyArray<FailureGroup>
  readonly endpoints: Endpoints
}) => (
  <section id="issues">
    <h2>Open issues</h2>
    <Table
      caption="The largest groups of failures"
      hideCaption
      rows={groups}
      empty="No delivery is a dead letter. Failures stand here, grouped by what caused them, until they are replayed or purged."
      columns={[
        {
          header: "Failure",
          cell: ({ id, reason, status, outcome, firstLine }) => (
            <a href={`/issues/${id}`}>
              {reason}, {status === null ? outcome : `status ${status}`}
              {firstLine !== null && (
                <>
                  : <ForeignText>{firstLine}</ForeignText>
                </>
              )}
            </a>
          ),
        },
        { header: "Endpoint", cell: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} /> },
        { header: "Dead letters", numeric: true, cell: ({ open }) => formatCount(open) },
        { header: "Last", cell: ({ lastAt }) => <Time at={lastAt} /> },
      ]}
    />
    {groups.length > 0 && (
      <p>
        <a href="/issues">All issues</a>
      </p>
    )}
  </section>
)

const RefusingDomains = ({ domains }: { readonly domains: ReadonlyArray<RefusingDomain> }) => (
  <section id="domains">
    <h2>Domains that refuse us</h2>
    <Table
      caption="Domains that refuse us"
      hideCaption
      rows={domains}
      empty="No campaign leaves a domain alone. A domain that refuses a campaign stands here until it is written to again."
      columns={[
        { header: "Domain", cell: ({ domain }) => domain },
        { header: "Campaign", cell: ({ campaignId, campaign }) => <IdLink id={campaignId}>{campaign}</IdLink> },
        { header: "SMTP status", cell: ({ status }) => status },
        { header: "Left alone until", cell: ({ until }) => <Time at={until} /> },
      ]}
    />
    {domains.length === MAX_REFUSING_DOMAINS && (
      <p>The last {MAX_REFUSING_DOMAINS} are shown; each campaign lists its own.</p>
    )}
  </section>
)
