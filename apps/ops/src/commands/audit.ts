import { AUDIT_RESULTS, type AuditEntry, AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { group, reading } from "../Declaration.ts"
import { CONTINUES, limit, organizationId, period } from "../inputs/filters.ts"
import { choice, named, optional, text } from "../inputs/Input.ts"
import { Output } from "../output/Output.ts"

const list = reading({
  about: "List the commands that changed something or showed personal data, newest first",
  examples: [
    "ops audit list --organization org_… --from 2026-12-01T00:00:00Z",
    'ops audit list --command "campaigns cancel"',
    "ops audit list --object cmp_…",
  ],
  input: {
    organizationId: optional(organizationId),
    objectId: named("object", optional(text("Only commands that were given this id, such as cmp_…", "id"))),
    command: optional(text('Only this command or group of commands, such as "campaigns cancel" or campaigns', "words")),
    operator: optional(
      text("Only commands of this OPS_OPERATOR, user of the operating system or database role", "name"),
    ),
    result: optional(
      choice(AUDIT_RESULTS, "Only those that ended like this; unfinished ones are under way, or were killed"),
    ),
    ...period("Only those begun", CONTINUES),
    limit,
  },
  *run({ limit, ...filter }) {
    const entries = yield* AuditLog.use(({ list }) => list(filter, limit + 1))
    const { json } = yield* Output
    return entries.map((entry) => (json ? { who: undefined, ...entry } : toRow(entry)))
  },
  columns: ["begunAt", "who", "command", "arguments", "result", "endedAt", "id"],
})

export const audit = group({ about: "Who did what with this command line", commands: { list } })

const toRow = ({ operator, osUser, role, host, arguments: given, result, code, ...entry }: AuditEntry) => ({
  ...entry,
  who: `${operator ?? osUser} (${operator === null ? "" : `${osUser}, `}${host}, ${role})`,
  arguments: Object.entries(given).map(formatArgument).join(" "),
  result: code === null ? result : `${result}: ${code}`,
})

const formatArgument = ([name, value]: readonly [string, AuditEntry["arguments"][string]]): string => {
  if (value === true) return name
  return `${name}=${value === null ? "…" : Array.isArray(value) ? value.join(",") : value}`
}
