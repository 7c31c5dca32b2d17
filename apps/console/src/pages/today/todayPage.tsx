import { explainUnsent } from "@outreach/backoffice/campaigns/explainUnsent"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped, formatCount, formatCounted, formatDuration, formatShare } from "@outreach/backoffice/format"
import { issues } from "@outreach/backoffice/operations/issues"
import { byUrgency, type Tone } from "@outreach/backoffice/operations/List"
import { MAX_REFUSING_DOMAINS, type Today, TodayReader } from "@outreach/backoffice/today/TodayReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { activeAlerts } from "@outreach/domain/operators/alerts"
import { FACTS, type FactValues, totalOf } from "@outreach/domain/operators/facts"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { Array as Arr, Effect, Struct } from "effect"
import { Advice } from "../../components/Findings.tsx"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { Minute, Prose } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable } from "../../http/listPage.tsx"
import { definePage } from "../../http/Route.ts"
import { CampaignStatusBadge } from "../campaigns/CampaignReports.tsx"
import { ComplaintRate } from "../campaigns/campaignsPages.tsx"

const MAX_IDLE = 5
const MAX_ISSUES = 5

export const todayPage = definePage("/", {
  run: Effect.fnUntraced(function* (_, { operator, now }) {
    const reader = yield* TodayReader
    const scope = operator.organizationId
    const { list } = yield* FailureGroupReader
    const [today, facts, idle, domains, complained, failing, groups, { nameOf }] = yield* Effect.all(
      [
        reader.read(scope),
        readFacts(TODAY_FACTS, scope),
        (yield* SendingReader).listIdle(scope, MAX_IDLE),
        reader.readRefusingDomains(scope),
        reader.readComplained(scope),
        reader.readFailingEndpoints(scope),
        list({ organizationId: scope ?? undefined, largest: true }, MAX_ISSUES),
        readObjects({ endpointId: true }, scope === null ? {} : { organizationId: scope }),
      ],
      { concurrency: "unbounded" },
    )
    // Workers don't belong to an organization.
    const tiles = [...todayTiles(today, facts), ...(scope === null ? [workersTile(facts)] : [])]
    const waiting = idle.flatMap((state) => {
      const cause = explainUnsent(state, now)
      return cause === null ? [] : [{ ...state, ...cause }]
    })
    return (
      <Page title="Today" commands={[["status"], ["status", { watch: true }]]}>
        <p>
          <small>
            Read at <Minute at={fromUnixMillis(now)} />.
          </small>
        </p>
        <ul class="tiles">
          {Arr.sort(tiles, byUrgency).map(({ title, href, tone, value, detail }) => (
            <li key={title} class={`tile ${tone}`}>
              <a href={href}>
                <span class="title">{title}</span>
                <span class="value">{value}</span>
              </a>
              <small>
                <bdi>{detail}</bdi>
              </small>
            </li>
          ))}
        </ul>
        <Table
          title="Stopped campaigns"
          rows={waiting}
          columns={{
            Campaign: ({ id, name }) => ({ id, name }),
            Reason: ({ found }) => <Prose>{found}</Prose>,
            Remedy: (cause) => <Advice finding={cause} />,
          }}
        />
        <section id="issues">
          <ListTable
            title="Open issues"
            label="Most frequent causes of failures"
            list={issues}
            rows={groups}
            nameOf={nameOf}
            empty="No failing calls or dead letters."
          />
          {groups.length > 0 && <LinkLine to="/issues">All issues</LinkLine>}
        </section>
        <Table
          title="Campaigns with many complaints, last 7 days"
          rows={complained}
          columns={{
            Campaign: ({ campaignId: id, campaign: name }) => ({ id, name }),
            Status: ({ status }) => <CampaignStatusBadge status={status} />,
            Complaints: (counts) => <ComplaintRate {...counts} />,
          }}
        />
        <Table
          title="Failing endpoints"
          rows={failing}
          columns={{
            Endpoint: ({ id, url: name }) => ({ id, name }),
            Since: ({ failingSince }) => ({ at: failingSince }),
            Disabled: ({ disabledAt }) => disabledAt && { at: disabledAt },
            Notified: ({ hasContacts, organizationId }) =>
              hasContacts
                ? "its contacts"
                : { to: `/partners/${organizationId}#contacts`, name: "no one: add contacts" },
          }}
        />
        <section id="domains">
          <Table
            title="Rejecting domains"
            rows={domains}
            empty="No rejecting domains."
            columns={{
              Domain: ({ domain }) => domain,
              Campaign: ({ campaignId: id, campaign: name }) => ({ id, name }),
              "SMTP status": ({ status }) => status,
              "Paused until": ({ until }) => ({ at: until }),
            }}
          />
          {domains.length === MAX_REFUSING_DOMAINS && (
            <p>The last {MAX_REFUSING_DOMAINS} are shown; each campaign lists its own.</p>
          )}
        </section>
      </Page>
    )
  }),
})

interface TodayTile {
  readonly title: string
  readonly href: string
  readonly tone: Tone
  readonly value: string
  readonly detail: string
}

/** The counts that should be 0, with the tone otherwise. */
const COUNTS = {
  breakersOpen: ["Open breakers", "bad", "endpoints that only receive probes"],
  failuresLasting: ["Causes of failing calls", "bad", "webhooks that fail"],
  deadLetters: ["Dead letters", "warning", "not replayed or removed"],
  inboxQuarantined: ["Quarantined inbound events", "warning", "can't be applied"],
  domainsRejecting: ["Rejecting domains", "warning", "paused temporarily"],
} as const

/** The facts that Today shows. */
const TODAY_FACTS = [...Struct.keys(COUNTS), "deliveriesOldestSeconds", "workers"] as const
type Facts = FactValues<(typeof TODAY_FACTS)[number]>

const todayTiles = (today: Today, facts: Facts): ReadonlyArray<TodayTile> => [
  sendingTile(today),
  {
    title: "Oldest due delivery",
    href: FACTS.deliveriesOldestSeconds.page,
    tone: activeAlerts(facts).some(({ name }) => name === "OutreachDeliveriesLate") ? "bad" : "good",
    value: facts.deliveriesOldestSeconds.live === 0 ? "None" : formatDuration(facts.deliveriesOldestSeconds.live),
    detail: "to working endpoints",
  },
  ...Struct.keys(COUNTS).map((name): TodayTile => {
    const [title, tone, detail] = COUNTS[name]
    const count = totalOf(name, facts[name])
    const value = name === "inboxQuarantined" ? formatCapped(count, COUNT_CAP) : formatCount(count)
    return { title, href: FACTS[name].page, detail, tone: count > 0 ? tone : "good", value }
  }),
  quotaTile(today),
]

const sendingTile = ({ sending: { campaigns, sentInLastMinute, remaining } }: Today): TodayTile => {
  const isStuck = sentInLastMinute === 0 && remaining !== 0
  const left = remaining === null ? "" : `, ${formatCount(remaining)} left`
  const isMoving = remaining !== null && remaining > 0 && sentInLastMinute > 0
  const time = isMoving ? `, about ${formatDuration((remaining / sentInLastMinute) * 60)}` : ""
  return {
    title: "Sending now",
    href: "/campaigns?status=sending",
    tone: campaigns === 0 ? "neutral" : isStuck ? "warning" : "good",
    value: campaigns === 0 && sentInLastMinute === 0 ? "None" : `${formatCount(sentInLastMinute)} per minute`,
    detail: campaigns === 0 ? "no active campaigns" : `${formatCounted(campaigns, "campaign")}${left}${time}`,
  }
}

const quotaTile = ({ quota }: Today): TodayTile => {
  const tile = { title: "Quota closest to target" }
  if (quota === null) return { ...tile, href: "/programs", tone: "neutral", value: "–", detail: "no targets" }
  const { programId, program, stage, count, target } = quota
  return {
    ...tile,
    href: `/programs/${programId}`,
    tone: count >= target ? "neutral" : "good",
    value: formatShare(count / target),
    detail: `${formatCount(count)} of ${formatCount(target)} ${stage}s of ${program}`,
  }
}

const workersTile = ({ workers }: Facts): TodayTile => ({
  title: "Workers alive",
  href: FACTS.workers.page,
  tone: workers === 0 ? "bad" : "good",
  value: formatCount(workers),
  detail: workers === 0 ? "sending and delivery stopped" : "sending and delivering",
})
