import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import { Array as Arr } from "effect"
import { Advice, FindingBadge } from "../../components/Advice.tsx"
import { type Columns, Table } from "../../components/layout.tsx"
import { IdLink, Prose } from "../../components/values.tsx"

const OF_PARTNER: ReadonlyArray<PreflightCheck["check"]> = ["endpoint", "signing_secret"]

export const PreflightList = (props: {
  readonly checks: ReadonlyArray<PreflightCheck>
  readonly organizationId: string
}) => {
  const { checks, organizationId } = props
  const { failed = [], warning = [], ok = [], skipped = [] } = Arr.groupBy(checks, ({ status }) => status)
  const columns: Columns<PreflightCheck> = {
    Check: ({ check }) => {
      const words = check.replaceAll("_", " ")
      return OF_PARTNER.includes(check) ? <IdLink id={organizationId}>{words}</IdLink> : words
    },
    Status: ({ status }) => <FindingBadge status={status} />,
    Found: ({ found }) => <Prose>{found}</Prose>,
  }
  return (
    <>
      <h2 id="preflight">Preflight</h2>
      <p>
        {failed.length} failed, {warning.length} with warnings, {ok.length} passed.
      </p>
      <Table
        label="Problems"
        rows={[...failed, ...warning]}
        columns={{ ...columns, Remedy: (check) => <Advice finding={check} /> }}
      />
      <details>
        <summary>Passed checks</summary>
        <Table label="Passed checks" rows={[...ok, ...skipped]} columns={columns} />
      </details>
    </>
  )
}
