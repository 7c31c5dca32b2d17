import { toUnixMillis } from "@outreach/domain/Timestamp"
import {
  type GaugeSample,
  MAX_REFUSING_DOMAINS,
  type RefusingDomain,
  TodayReader,
} from "@outreach/postgres/today/TodayReader"
import { Effect } from "effect"
import { Sparkline } from "../../components/charts/Sparkline.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { Tile } from "../../components/Tile.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { formatTimeOfDay, type TodayTile, todayTiles } from "./todayTiles.ts"

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
    const [today, history, domains] = yield* Effect.all(
      [reader.read(scope), reader.readHistory(scope), reader.readRefusingDomains(scope)],
      { concurrency: "unbounded" },
    )
    return {
      title: "Today",
      commands: ["ops status", "ops status --watch"],
      body: (
        <>
          <p>
            <small>
              Read at <span data-live="at">{formatTimeOfDay(now)}</span>. The lines show the last 24 hours.
            </small>
          </p>
          <ul class="tiles">
            {todayTiles(today).map((tile) => (
              <Tile key={tile.name} {...tile} live={tile.name}>
                <small data-live={`${tile.name}.detail`}>{tile.detail}</small>
                <History tile={tile} samples={history} />
              </Tile>
            ))}
          </ul>
          <RefusingDomains domains={domains} />
        </>
      ),
    }
  }),
})

const History = ({ tile, samples }: { readonly tile: TodayTile; readonly samples: ReadonlyArray<GaugeSample> }) => {
  if (tile.history === undefined) return null
  const { unit, of } = tile.history
  const points = samples.flatMap((sample) => {
    const value = of(sample)
    return value === null ? [] : [{ at: new Date(toUnixMillis(sample.at)), value }]
  })
  const values = points.map(({ value }) => value)
  const label = `${tile.title} in the last 24 hours, in ${unit}: from ${formatCount(values[0] ?? 0)} to ${formatCount(values.at(-1) ?? 0)}, at most ${formatCount(Math.max(0, ...values))}`
  return <Sparkline label={label} points={points} />
}

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
