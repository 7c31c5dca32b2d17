import { explainUnsent } from "@outreach/backoffice/campaigns/explainUnsent"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { issues } from "@outreach/backoffice/operations/issues"
import { byUrgency } from "@outreach/backoffice/operations/List"
import { MAX_REFUSING_DOMAINS, TodayReader } from "@outreach/backoffice/today/TodayReader"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { Array as Arr, Effect } from "effect"
import { Advice } from "../../components/Findings.tsx"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { Minute, Prose } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable } from "../../http/listPage.tsx"
import { definePage } from "../../http/Route.ts"
import { CampaignStatusBadge } from "../campaigns/CampaignReports.tsx"
import { ComplaintRate } from "../campaigns/ComplaintRate.tsx"
import { TODAY_FACTS, todayTiles, workersTile } from "./todayTiles.ts"

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
