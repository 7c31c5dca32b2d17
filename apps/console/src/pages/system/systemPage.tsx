import { describeAlert } from "@outreach/backoffice/format"
import { checkDatabase } from "@outreach/backoffice/inspection/databaseFindings"
import { type Tone, URGENCY } from "@outreach/backoffice/lists/List"
import { type ActiveAlert, ALERTS, runbookOf } from "@outreach/domain/operators/alerts"
import type { Finding } from "@outreach/domain/operators/Finding"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { RELEASE } from "@outreach/process/release"
import { Array as Arr, Cause, Effect, Order } from "effect"
import type { VNode } from "preact"
import { Advice, FINDING_TONES } from "../../components/Advice.tsx"
import { type Columns, Page, Section, Table } from "../../components/layout.tsx"
import { Prose, StatusBadge } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"

export const systemPage = definePage("/system", {
  isConsistent: false,
  run: Effect.fnUntraced(function* (_, { now }) {
    const [alerts, findings] = yield* Effect.all([readAlerts, checkDatabase], { concurrency: "unbounded" })
    const checks = findings.map(checkRow)
    const problems = [...(alerts ?? []).map((alert) => alertRow(alert, now)), ...checks.filter(isProblem)]
    return (
      <Page title="System" commands={[["doctor"], ["status"]]}>
        <Section title="Alerts">
          {alerts === undefined && <p class="problem">The alerts can't be read. See the database's log.</p>}
          <Table
            label="Problems"
            rows={Arr.sort(problems, byUrgency)}
            columns={COLUMNS}
            empty="No alerts or failed checks in the database."
          />
          <details>
            <summary>Passed checks</summary>
            <Table
              label="Passed checks"
              rows={checks.filter((check) => !isProblem(check))}
              columns={COLUMNS}
              empty="None."
            />
            <p>
              The database can evaluate {ALERTS.length} alerts of <code>deploy/alerts.yml</code>; the rest require
              Prometheus. <code>ops doctor</code> also checks the settings of all processes, the keys, the mail server,
              its DNS records, the senders and the endpoints.
            </p>
          </details>
        </Section>
        <p>This console is release {RELEASE}.</p>
      </Page>
    )
  }),
})

/** An active alert or the result of a check. */
interface Row {
  readonly tone: Tone
  readonly word: string
  readonly found: string
  /** The page that shows it. */
  readonly page?: string | undefined
  readonly since: Timestamp | null
  readonly remedy: Pick<Finding, "advice" | "command">
  readonly source: VNode
}

const COLUMNS: Columns<Row> = {
  Severity: ({ tone, word }) => <StatusBadge tone={tone}>{word}</StatusBadge>,
  Found: ({ found, page }) => (page === undefined ? <Prose>{found}</Prose> : { to: page, name: found }),
  Since: ({ since }) => since && { at: since },
  Remedy: ({ remedy }) => <Advice finding={remedy} />,
  Source: ({ source }) => source,
}

const isProblem = ({ tone }: Row): boolean => URGENCY[tone] < URGENCY.good
const byUrgency = Order.mapInput(Order.Number, ({ tone }: Row) => URGENCY[tone])

const alertRow = (alert: ActiveAlert, now: number): Row => ({
  tone: alert.severity === "critical" ? "bad" : "warning",
  word: alert.severity,
  found: describeAlert(alert),
  page: alert.page,
  since: alert.age === null ? null : fromUnixMillis(now - alert.age * 1000),
  remedy: alert,
  source: (
    <>
      <code>{alert.name}</code> fires after {alert.delay}; <code>{runbookOf(alert)}</code>
    </>
  ),
})

const checkRow = ({ check, ...finding }: Finding & { readonly check: string }): Row => ({
  tone: FINDING_TONES[finding.status],
  word: finding.status,
  found: finding.found,
  since: null,
  remedy: finding,
  source: (
    <>
      <code>ops doctor</code>, {check}
    </>
  ),
})

/** The active alerts; undefined if they can't be read. */
const readAlerts = FactReader.use(({ readAlerts }) => readAlerts).pipe(
  Effect.catchCauseIf(
    (cause) => !Cause.hasInterruptsOnly(cause),
    () => Effect.as(Effect.logWarning("failed to read the alerts"), undefined),
  ),
)
