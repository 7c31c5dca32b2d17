import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { IdLink } from "../../components/IdLink.tsx"
import { StatusBadge, type Tone } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"

const TONES: Readonly<Record<PreflightCheck["status"], Tone>> = {
  failed: "bad",
  warning: "warning",
  ok: "good",
  skipped: "neutral",
}
const WORDS: Readonly<Record<PreflightCheck["status"], string>> = {
  failed: "wrong",
  warning: "warning",
  ok: "ok",
  skipped: "skipped",
}
/** What is mended on the partner's page. */
const OF_PARTNER: ReadonlyArray<PreflightCheck["check"]> = ["endpoint", "signing_secret"]
const ORDER: ReadonlyArray<PreflightCheck["status"]> = ["failed", "warning", "ok", "skipped"]

/** Whether a campaign is ready to be sent: what is wrong before the rest. */
export const PreflightList = ({
  checks,
  organizationId,
}: {
  readonly checks: ReadonlyArray<PreflightCheck>
  readonly organizationId: OrganizationId
}) => {
  const count = (status: PreflightCheck["status"]) => checks.filter((check) => check.status === status).length
  return (
    <>
      <h2 id="preflight">Preflight</h2>
      <p>
        {count("failed")} wrong, {count("warning")} to look at, {count("ok")} in order.
      </p>
      <Table
        caption="Preflight"
        hideCaption
        rows={ORDER.flatMap((status) => checks.filter((check) => check.status === status))}
        empty="Nothing to check."
        columns={[
          {
            header: "Check",
            cell: ({ check }) =>
              OF_PARTNER.includes(check) ? (
                <IdLink id={organizationId}>{check.replaceAll("_", " ")}</IdLink>
              ) : (
                check.replaceAll("_", " ")
              ),
          },
          { header: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]}>{WORDS[status]}</StatusBadge> },
          { header: "Found", cell: ({ found }) => found },
          { header: "What to do", cell: ({ advice }) => advice ?? "–" },
        ]}
      />
    </>
  )
}
