import { formatCount } from "@outreach/backoffice/format"
import { audit as auditList } from "@outreach/backoffice/lists/audit"
import { exportAudit, verifyAudit } from "@outreach/backoffice/operations/audit"
import { command } from "../command.ts"
import { group } from "../group.ts"

export const audit = group("audit", "Who did what with this command line, and whether that record is whole", [
  auditList,
  command(verifyAudit, {
    format: ({ entries, removed, head }) =>
      head === null
        ? "The audit log has no entry."
        : `The audit log is as it was recorded, ${formatCount(entries)} entries${removed > 0 ? `, of which ${formatCount(removed)} were removed` : ""}. Note its head elsewhere: ${head}`,
  }),
  exportAudit,
])
