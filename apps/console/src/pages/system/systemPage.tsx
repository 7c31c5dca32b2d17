import { formatCount, formatDuration } from "@outreach/backoffice/format"
import { AlertReader } from "@outreach/backoffice/inspection/AlertReader"
import {
  clockFaultsFinding,
  clockFinding,
  connectionFinding,
  roleFinding,
  schemaFinding,
} from "@outreach/backoffice/inspection/databaseFindings"
import { type Tone, URGENCY } from "@outreach/backoffice/lists/List"
import { ALERT_RULES, activeAlerts, runbookOf } from "@outreach/domain/operators/alerts"
import { type Finding, failed } from "@outreach/domain/operators/Finding"
import { RELEASE } from "@outreach/process/release"
import { Cause, Effect } from "effect"
import type { ComponentChildren } from "preact"
import { Advice, FINDING_TONES } from "../../components/Advice.tsx"
import { type Columns, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Prose, StatusBadge } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"

export const systemPage = definePage("/system", {
  isConsistent: false,
  run: Effect.fnUntraced(function* () {
    const system = yield* readSystem
    return (
      <Page title="System" commands={[ops("doctor"), ops("status")]}>
        <Problems {...system} />
        <p>This console is release {RELEASE}.</p>
      </Page>
    )
  }),
})

/** Reads the problems. Parts that fail or time out don't affect the other parts. */
const readSystem = Effect.gen(function* () {
  const { read: readAlerts } = yield* AlertReader
  return yield* Effect.all(
    {
      alerts: orUndefined(Effect.map(readAlerts, activeAlerts)),
      findings: Effect.all([
        checked("database", connectionFinding),
        checked("schema", schemaFinding),
        checked("role", roleFinding),
        checked("clock", clockFinding),
        checked("clock_faults", clockFaultsFinding),
      ]),
    },
    { concurrency: "unbounded" },
  )
})

const orUndefined = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchCause(effect, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.as(Effect.logWarning("failed to read a part of the system page"), undefined),
  )

/** A finding of `ops doctor`, by the name of its check. */
const checked = <E, R>(check: string, finding: Effect.Effect<Finding, E, R>) =>
  Effect.map(orUndefined(finding), (found) => ({
    check,
    ...(found ?? failed("The check failed.", "See the database's log.", ["doctor"])),
  }))

const COLUMNS: Columns<{
  readonly tone: Tone
  readonly word: string
  readonly found: string
  readonly advice: Pick<Finding, "advice" | "command">
  readonly source: ComponentChildren
}> = {
  Severity: ({ tone, word }) => <StatusBadge tone={tone}>{word}</StatusBadge>,
  Found: ({ found }) => <Prose>{found}</Prose>,
  Remedy: ({ advice }) => <Advice finding={advice} />,
  Source: ({ source }) => source,
}

/** The problems with their remedies, the worst first. */
const Problems = ({ alerts, findings }: Effect.Success<typeof readSystem>) => {
  const active = (alerts ?? []).map(({ severity, unit, value, name, found, advice, delay }) => {
    const source = (
      <>
        <code>{name}</code> fires after {delay}; <code>{runbookOf({ name })}</code>
      </>
    )
    const words = found(unit === "seconds" ? formatDuration(value) : formatCount(value))
    const tone: Tone = severity === "critical" ? "bad" : "warning"
    return { tone, word: severity, found: words, advice: { advice }, source }
  })
  const checks = findings.map(({ check, ...finding }) => {
    const { status, found } = finding
    const source = (
      <>
        <code>ops doctor</code>, {check}
      </>
    )
    return { tone: FINDING_TONES[status], word: status, found, advice: finding, source }
  })
  const problems = [...active, ...checks.filter(({ tone }) => URGENCY[tone] < URGENCY.good)].toSorted(
    (a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"),
  )
  return (
    <Section title="Alerts">
      {alerts === undefined && <p class="problem">The alerts can't be read. See the database's log.</p>}
      <Table label="Problems" rows={problems} columns={COLUMNS} empty="No alerts or failed checks in the database." />
      <details>
        <summary>Passed checks</summary>
        <Table
          label="Passed checks"
          rows={checks.filter(({ tone }) => URGENCY[tone] === URGENCY.good)}
          columns={COLUMNS}
          empty="None."
        />
        <p>
          The database can evaluate {ALERT_RULES.length} alerts of <code>deploy/alerts.yml</code>; the rest require
          Prometheus. <code>ops doctor</code> also checks the settings of all processes, the keys, the mail server, its
          DNS records, the senders and the endpoints.
        </p>
      </details>
    </Section>
  )
}
