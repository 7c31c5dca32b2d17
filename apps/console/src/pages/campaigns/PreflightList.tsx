import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
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
const ORDER: ReadonlyArray<PreflightCheck["status"]> = ["failed", "warning", "ok", "skipped"]

/** Whether a campaign is ready to be sent: what is wrong before the rest. */
export const PreflightList = ({ checks }: { readonly checks: ReadonlyArray<PreflightCheck> }) => {
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
          { header: "Check", cell: ({ check }) => check.replaceAll("_", " ") },
          { header: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]}>{WORDS[status]}</StatusBadge> },
          { header: "Found", cell: ({ found }) => found },
          { header: "What to do", cell: ({ advice }) => advice ?? "–" },
        ]}
      />
    </>
  )
}
