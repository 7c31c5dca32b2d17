import { Schema } from "effect"
import { type AuditEntry, AuditLog, auditFilters } from "../operators/AuditLog.ts"
import { badge, id, inOps, list, text, time } from "./List.ts"

export const audit = list("audit list", {
  about: "List recorded commands and console actions, newest first",
  examples: [
    "ops audit list --organization org_… --from 2026-11-01T00:00:00Z",
    'ops audit list --command "campaigns cancel"',
    "ops audit list --object cmp_…",
  ],
  filters: auditFilters,
  cursor: { id: Schema.String },
  read: (filter, { limit, after }) => AuditLog.use(({ page }) => page(filter, limit, after)),
  columns: {
    begunAt: time("Time"),
    who: {
      ...text("Operator"),
      value: ({ operator, osUser, role, host }) =>
        `${operator ?? osUser} (${operator === null ? "" : `${osUser}, `}${host}, ${role})`,
    },
    command: text("Command"),
    arguments: {
      ...text("Arguments"),
      value: ({ arguments: given }) => Object.entries(given).map(formatArgument).join(" "),
    },
    result: {
      ...badge("Result", { succeeded: "good", failed: "bad", interrupted: "warning", unfinished: "warning" }),
      note: ({ endedAt }) => (endedAt === null ? "running or killed" : ""),
      value: ({ result, code }) => (code === null ? result : `${result}: ${code}`),
    },
    endedAt: inOps,
    organizations: { ...id("Organizations"), isOfConsole: true },
    id: inOps,
  },
  empty: "No entry matches. The audit log contains changes and views of personal data.",
})

const formatArgument = ([name, value]: readonly [string, AuditEntry["arguments"][string]]): string => {
  if (value === true) return name
  return `${name}=${value === null ? "…" : Array.isArray(value) ? value.join(",") : value}`
}
