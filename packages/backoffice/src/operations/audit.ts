import { DescribedError } from "@outreach/domain/DescribedError"
import { PastInstant } from "@outreach/domain/Timestamp"
import { textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { Console, type Effect, Schema } from "effect"
import { formatCount, formatCounted } from "../format.ts"
import { type AuditEntry, AuditLog, auditFilters } from "../operators/AuditLog.ts"
import { toLine } from "../operators/chainFaults.ts"
import { AuditChain, type ChainHead, type VerifiedAudit, verifyAudit as verify } from "../operators/verifyAudit.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { field, file } from "./Field.ts"
import { badge, id, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const audit = list("audit list", {
  about: "List recorded commands and console actions, newest first",
  examples: [
    "ops audit list --organization org_… --from 2026-11-01T00:00:00Z",
    'ops audit list --command "campaigns cancel"',
    "ops audit list --object cmp_…",
  ],
  filters: auditFilters,
  cursor: { id: Schema.String },
  read: (filter, { limit, after, direction }) => AuditLog.use(({ page }) => page(filter, limit, after, direction)),
  columns: {
    begunAt: { ...time("Time"), sort: "desc" },
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
    ...inOps("endedAt"),
    organizations: { ...id("Organizations"), isOfConsole: true },
    ...inOps("erasureId", "id"),
  },
  empty: "No entries. The audit log contains changes and views of personal data.",
  filledBy: null,
})

const formatArgument = ([name, value]: readonly [string, AuditEntry["arguments"][string]]): string => {
  if (value === true) return name
  return `${name}=${value === null ? "…" : Array.isArray(value) ? value.join(",") : value}`
}

const Head = textSchema("a head as `audit verify` prints it, such as 17:5f0c…", (text): ChainHead | undefined => {
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(text) ?? []
  return hash === undefined ? undefined : { number: Number(number), hash }
})

class AuditLogDiffers extends DescribedError("AuditLogDiffers", ({ faults: { length } }: VerifiedAudit) => {
  const found = `${formatCounted(length, "fault")}${length === 100 ? " or more" : ""}`
  return `The audit log is not as it was recorded: ${found}. docs/audit.md says what each means.`
}) {}

export const verifyAudit = operation("audit verify", {
  access: "reads",
  about: "Verify that the audit log is unchanged and complete",
  input: {
    head: field(Head, "The head that you noted after an earlier verification, such as 17:5f0c…"),
    against: file("An earlier export whose entries must be in the log"),
  },
  *run({ head, against: exported }) {
    const { warn } = yield* TaskProgress
    const verified = yield* verify({ exported, head })
    const { faults } = verified
    if (faults.length === 0) return verified
    for (const { problem, id, description } of faults) {
      yield* warn(`${problem}: ${description}${id === null ? "" : ` ${id}`}`)
    }
    return yield* new AuditLogDiffers(verified)
  },
  show: ({ entries, removed, head }) => [
    head === null
      ? "The audit log has no entry."
      : `The audit log is as it was recorded, ${formatCount(entries)} entries${removed > 0 ? `, of which ${formatCount(removed)} were removed` : ""}. Note its head elsewhere: ${head}`,
  ],
})

const PAGE_SIZE = 1000

const Since = Schema.Union([wholeNumber(0, 999_999_999), PastInstant]).annotate({
  expected: "a time such as 2026-11-01T00:00:00Z, or the number of the last entry that you have",
})

export const exportAudit = operation("audit export", {
  access: "reads",
  about: "Print the audit log as JSON lines, oldest first, each with its hash and that of the entry before",
  input: {
    since: field(
      Since,
      "Only entries after the one of this number, or from this time on, such as 2026-11-01T00:00:00Z",
    ),
  },
  *run({ since = 0 }) {
    const { list, numberBefore } = yield* AuditChain
    let after = typeof since === "number" ? since : yield* numberBefore(since)
    let links: Effect.Success<ReturnType<typeof list>>
    do {
      links = yield* list(after, PAGE_SIZE)
      if (links.length > 0) yield* Console.log(links.map(toLine).join("\n"))
      after = links.at(-1)?.number ?? after
    } while (links.length === PAGE_SIZE)
  },
  examples: ["ops audit export --since 1234 >> audit.jsonl"],
})
