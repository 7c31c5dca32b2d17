import { ALERT_RULES } from "@outreach/domain/operators/alerts"
import type { ComponentChildren } from "preact"
import { formatCount, formatDuration } from "../../components/format.ts"
import { Table } from "../../components/lists.tsx"
import { Prose, StatusBadge, type Tone } from "../../components/values.tsx"
import type { System } from "./readSystem.ts"

interface Problem {
  readonly tone: Tone
  readonly word: string
  readonly found: string
  readonly advice: string | null
  readonly source: ComponentChildren
}

/** What is wrong, the worst first, each with what to do about it. */
export const Problems = ({ alerts, findings }: System) => {
  const active = (alerts ?? []).map(
    ({ severity, unit, value, name, section, found, advice, delay }): Problem => ({
      tone: severity === "critical" ? "bad" : "warning",
      word: severity,
      found: found(unit === "seconds" ? formatDuration(value) : formatCount(value)),
      advice,
      source: (
        <>
          <code>{name}</code> fires after {delay}; <code>docs/operations.md#{section}</code>
        </>
      ),
    }),
  )
  const checks = findings.map(
    ({ status, check, found, advice }): Problem => ({
      tone: status === "failed" ? "bad" : status === "warning" ? "warning" : "good",
      word: status,
      found,
      advice,
      source: (
        <>
          <code>ops doctor</code>, {check}
        </>
      ),
    }),
  )
  const problems = [...active, ...checks.filter(({ tone }) => tone !== "good")].toSorted(
    (a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"),
  )
  return (
    <section class="alerts">
      <h2>Alerts</h2>
      {alerts === undefined && <p class="problem">The alerts could not be read. Look at the database's log.</p>}
      <ProblemTable
        caption="What is wrong, and what to do"
        problems={problems}
        empty="Nothing that the database knows of is wrong. Alerts and failed checks stand here, with what to do about them."
      />
      <details>
        <summary>What is right, and what is not known here</summary>
        <ProblemTable
          caption="Checks without a problem"
          problems={checks.filter(({ tone }) => tone === "good")}
          empty="None."
        />
        <p>
          The database knows the state of {ALERT_RULES.length} alerts of <code>deploy/alerts.yml</code>. The others are
          about rates and processes that Prometheus alone sees. <code>ops doctor</code> also looks at the settings of
          the other processes, the keys, the mail server, its DNS records, the senders and the endpoints.
        </p>
      </details>
    </section>
  )
}

const ProblemTable = (props: {
  readonly caption: string
  readonly problems: ReadonlyArray<Problem>
  readonly empty: string
}) => (
  <Table
    caption={props.caption}
    hideCaption
    rows={props.problems}
    empty={props.empty}
    columns={{
      Severity: ({ tone, word }) => <StatusBadge tone={tone}>{word}</StatusBadge>,
      Found: ({ found }) => <Prose>{found}</Prose>,
      "What to do": ({ advice }) => (advice === null ? "–" : <Prose>{advice}</Prose>),
      "Known from": ({ source }) => source,
    }}
  />
)
