import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { audit as auditList } from "@outreach/backoffice/lists/audit"
import { AuditChain } from "@outreach/backoffice/operators/AuditChain"
import { toLine } from "@outreach/backoffice/operators/chainFaults"
import { type ChainHead, verifyAudit } from "@outreach/backoffice/operators/verifyAudit"
import { PastInstant } from "@outreach/domain/Instant"
import { textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { Console, type Effect, Schema } from "effect"
import { group, reading } from "../Declaration.ts"
import { flag, optional, text } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { formatCell, printToStderr, refuse } from "../output/Output.ts"

const Head = textSchema("a head as `audit verify` prints it, such as 17:5f0c…", (text): ChainHead | undefined => {
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(text) ?? []
  return hash === undefined ? undefined : { number: Number(number), hash }
})

const verify = reading({
  about: "Verify that the audit log is unchanged and complete",
  examples: ["ops audit verify", "ops audit verify --head 17:5f0c…", "ops audit verify --against audit.jsonl"],
  input: {
    head: optional(flag(Head, "The head that you noted after an earlier verification, such as 17:5f0c…", "head")),
    against: optional(text("An earlier export whose entries must be in the log", "FILE")),
  },
  *run({ head, against: exported }) {
    const verified = yield* verifyAudit({ exported, head })
    const { faults } = verified
    if (faults.length === 0) return verified
    yield* printToStderr(
      faults
        .map(({ problem, id, description }) => formatCell(`${problem}: ${description}${id === null ? "" : ` ${id}`}`))
        .join("\n"),
    )
    const sentence = `The audit log is not as it was recorded: ${formatCounted(faults.length, "fault")}${faults.length === 100 ? " or more" : ""}. docs/audit.md says what each means.`
    return yield* refuse("AuditLogDiffers", sentence, verified)
  },
  format: ({ entries, removed, head }) =>
    head === null
      ? "The audit log has no entry."
      : `The audit log is as it was recorded, ${formatCount(entries)} entries${removed > 0 ? `, of which ${formatCount(removed)} were removed` : ""}. Note its head elsewhere: ${head}`,
})

const PAGE_SIZE = 1000

const Since = Schema.Union([wholeNumber(0, 999_999_999), PastInstant]).annotate({
  expected: "a time such as 2026-11-01T00:00:00Z, or the number of the last entry that you have",
})

const exportEntries = reading({
  about: "Print the audit log as JSON lines, oldest first, each with its hash and that of the entry before",
  examples: ["ops audit export > audit.jsonl", "ops audit export --since 1234 >> audit.jsonl"],
  input: {
    since: optional(
      flag(
        Since,
        "Only entries after the one of this number, or from this time on, such as 2026-11-01T00:00:00Z",
        "number|time",
      ),
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
})

export const audit = group({
  about: "Who did what with this command line, and whether that record is whole",
  commands: { list: listCommand(auditList), verify, export: exportEntries },
  services: AuditChain.layer,
})
