import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import { Advice, FindingBadge } from "../../components/Advice.tsx"
import { type Columns, Table } from "../../components/layout.tsx"
import { IdLink, Prose } from "../../components/values.tsx"

const OF_PARTNER: ReadonlyArray<PreflightCheck["check"]> = ["endpoint", "signing_secret"]

export const PreflightList = (props: {
  readonly checks: ReadonlyArray<PreflightCheck>
  readonly organizationId: string
}) => {
  const { checks, organizationId } = props
  const checksOf = (...statuses: ReadonlyArray<PreflightCheck["status"]>) =>
    statuses.flatMap((status) => checks.filter((check) => check.status === status))
  const columns: Columns<PreflightCheck> = {
    Check: ({ check }) => {
      const words = check.replaceAll("_", " ")
      return OF_PARTNER.includes(check) ? <IdLink id={organizationId}>{words}</IdLink> : words
    },
    Status: ({ status }) => <FindingBadge status={status} />,
    Found: ({ found }) => (
      <bdi>
        <Prose>{found}</Prose>
      </bdi>
    ),
  }
  const count = (status: PreflightCheck["status"]) => checks.filter((check) => check.status === status).length
  return (
    <>
      <h2 id="preflight">Preflight</h2>
      <p>
        {count("failed")} failed, {count("warning")} with warnings, {count("ok")} passed.
      </p>
      <Table
        label="Problems"
        rows={checksOf("failed", "warning")}
        columns={{ ...columns, Remedy: (check) => <Advice finding={check} /> }}
      />
      <details>
        <summary>Passed checks</summary>
        <Table label="Passed checks" rows={checksOf("ok", "skipped")} columns={columns} />
      </details>
    </>
  )
}
