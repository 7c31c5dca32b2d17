import { checkDatabase } from "@outreach/backoffice/inspection/databaseFindings"
import { type ActiveAlert, ALERTS, runbookOf } from "@outreach/domain/operators/alerts"
import type { Finding } from "@outreach/domain/operators/Finding"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { RELEASE } from "@outreach/process/release"
import { Cause, Effect } from "effect"
import { type CheckResult, Findings, toFinding } from "../../components/Findings.tsx"
import { Page, Section } from "../../components/layout.tsx"
import { definePage } from "../../http/Route.ts"

export const systemPage = definePage("/system", {
  isConsistent: false,
  run: Effect.fnUntraced(function* (_, { now }) {
    const [alerts, findings] = yield* Effect.all([readAlerts, checkDatabase], { concurrency: "unbounded" })
    return (
      <Page title="System" commands={[["doctor"], ["status"]]}>
        <Section title="Alerts">
          {alerts === undefined && <p class="problem">The alerts can't be read. See the database's log.</p>}
          <Findings
            of={[...(alerts ?? []).map((alert) => toResult(alert, now)), ...findings.map(ofDoctor)]}
            empty="No alerts or failed checks in the database."
          >
            <p>
              The database can evaluate {ALERTS.length} alerts of <code>deploy/alerts.yml</code>; the rest require
              Prometheus. <code>ops doctor</code> also checks the settings of all processes, the keys, the mail server,
              its DNS records, the senders and the endpoints.
            </p>
          </Findings>
        </Section>
        <p>This console is release {RELEASE}.</p>
      </Page>
    )
  }),
})

const toResult = (alert: ActiveAlert, now: number): CheckResult => ({
  ...toFinding(alert, now),
  check: (
    <>
      <code>{alert.name}</code> fires after {alert.delay}; <code>{runbookOf(alert)}</code>
    </>
  ),
  word: alert.severity,
})

const ofDoctor = (finding: Finding & { readonly check: string }): CheckResult => ({
  ...finding,
  check: (
    <>
      <code>ops doctor</code>, {finding.check}
    </>
  ),
})

/** The active alerts; undefined if they can't be read. */
const readAlerts = FactReader.use(({ readAlerts }) => readAlerts(null)).pipe(
  Effect.catchCauseIf(
    (cause) => !Cause.hasInterruptsOnly(cause),
    () => Effect.as(Effect.logWarning("failed to read the alerts"), undefined),
  ),
)
