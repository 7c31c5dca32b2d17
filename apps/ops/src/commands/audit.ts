import { AUDIT_RESULTS, type AuditEntry, AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { instant } from "../inputs/times.ts"
import { formatRows, print, printToStderr } from "../output/Output.ts"

const list = reading(
  "list",
  {
    organization: organization.pipe(Flag.optional),
    command: Flag.String("command").pipe(
      Flag.withMetavar("words"),
      Flag.withDescription('Only this command or group of commands, such as "campaigns cancel" or campaigns'),
      Flag.optional,
    ),
    operator: Flag.String("operator").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("Only commands of this OPS_OPERATOR, user of the operating system or database role"),
      Flag.optional,
    ),
    result: Flag.Literals("result", AUDIT_RESULTS).pipe(
      Flag.withDescription("Only those that ended like this; unfinished ones are under way, or were killed"),
      Flag.optional,
    ),
    from: instant("from", "Only those begun at this time or later, such as 2026-12-01T09:00:00Z").pipe(Flag.optional),
    to: instant("to", "Only those begun before this time; to continue a list, give the last row's time").pipe(
      Flag.optional,
    ),
    limit,
  },
  Effect.fn("ops.audit.list")(function* ({ organization, command, operator, result, from, to, limit }) {
    const filter = pickDefined({ organizationId: organization, command, operator, result, from, to })
    const entries = yield* (yield* AuditLog).list(filter, limit + 1)
    const data = entries.slice(0, limit)
    const hasMore = entries.length > limit
    yield* print({ data, hasMore }, () =>
      formatRows(data.map(toRow), ["begunAt", "who", "command", "arguments", "result", "endedAt", "id"]),
    )
    if (hasMore) yield* printToStderr(`There are more than these ${limit}. See --limit.`)
  }),
).pipe(
  Command.withDescription("List the commands that changed something or showed personal data, newest first"),
  Command.withExamples([
    { command: "ops audit list --organization org_… --from 2026-12-01T00:00:00Z" },
    { command: 'ops audit list --command "campaigns cancel"' },
  ]),
)

/** `ops audit …` */
export const audit = Command.make("audit").pipe(
  Command.withDescription("Who did what with this command line"),
  Command.withSubcommands([list]),
)

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
