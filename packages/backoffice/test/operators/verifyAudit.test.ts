import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect } from "@effect/vitest"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, it } from "vitest"
import { AuditLog } from "../../src/operators/AuditLog.ts"
import { toLine } from "../../src/operators/chainFaults.ts"
import { AuditChain, type ChainHead, verifyAudit } from "../../src/operators/verifyAudit.ts"

const { run, test } = testsOnDatabase({ layer: NodeServices.layer })

const folder = temporaryFolder("audit", afterAll)
const file = (text: string) => {
  const path = join(folder, "audit.jsonl")
  writeFileSync(path, text)
  return path
}
const page = readFileSync(new URL("../../../../docs/audit.md", import.meta.url), "utf8")

/** Runs statements as the owner of the tables, in one transaction. */
const asOwner = (...statements: ReadonlyArray<string>) =>
  inTransaction(Effect.forEach(statements, (statement) => sql.unsafe<Record<string, string>>(statement)))
/** Runs statements as a superuser who has disabled triggers and foreign keys. */
const unguarded = (...statements: ReadonlyArray<string>) =>
  asOwner("set local session_replication_role = replica", ...statements)

/** Records successful commands. */
const record = Effect.fnUntraced(function* (count: number) {
  const log = yield* AuditLog
  for (let i = 0; i < count; i++) {
    const given = { campaign: `cmp_${i}`, reason: 'asked "by phone"\u2028', dry: true, npi: null }
    const command = { command: "campaigns pause", arguments: given, operator: "Ada Ö", osUser: "root", host: "h" }
    yield* log.end(yield* log.begin(command), { result: "succeeded", code: null })
  }
})

const TABLES = ["audit_log", "audit_results", "audit_chain"] as const
const restore = unguarded(
  `truncate ${TABLES.join(", ")}`,
  ...TABLES.map((table) => `insert into ${table} select * from saved_${table}`),
)
beforeAll(() =>
  run(Effect.andThen(record(4), asOwner(...TABLES.map((table) => `create table saved_${table} as table ${table}`)))),
)
beforeEach(() => run(restore))

const problems = (options: Parameters<typeof verifyAudit>[0] = {}) =>
  Effect.map(verifyAudit(options), ({ faults }) => faults.map(({ number, problem }) => [problem, number]))
const exported = Effect.map(
  AuditChain.use(({ list }) => list(0, 1000)),
  (links) => links.map((link) => `${toLine(link)}\n`).join(""),
)
const against = (lines: string) => ({ exported: file(lines) })
const idOf = (number: number) =>
  Effect.map(
    AuditChain.use(({ list }) => list(number - 1, 1)),
    ([link]) => link!.id,
  )
const parseHead = (head: string | null): ChainHead => {
  const [number, hash] = head!.split(":")
  return { number: Number(number), hash: hash! }
}

/** Returns the statements with which an owner rewrites the hashes of links, as the chain does. */
const rewriting = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => {
    const number = from + i
    return `do $$ declare said text; begin
      update audit_chain set previous = (select hash from audit_chain where number = ${number - 1}) where number = ${number};
      if (select kind from audit_chain where number = ${number}) = 'begun' then
        select row_to_json(entry) into said from (
          select number, encode(previous, 'hex') as previous, kind, id, to_char(begun_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
            role, operator, os_user, host, command, arguments, objects, organizations, submission
          from audit_chain join audit_log on id = command_id where number = ${number}) entry;
      else
        select row_to_json(entry) into said from (
          select number, encode(previous, 'hex') as previous, kind, audit_chain.command_id as id,
            to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, result, code
          from audit_chain join audit_results using (command_id) where number = ${number}) entry;
      end if;
      update audit_chain set hash = sha256(convert_to(said, 'UTF8')) where number = ${number};
    end $$`
  })

describe("verifyAudit", () => {
  test("finds no fault in an unchanged log, and returns its head", function* () {
    const { entries, removed, head, faults } = yield* verifyAudit({})
    expect({ entries, removed, faults }).toEqual({ entries: 8, removed: 0, faults: [] })
    expect(head).toMatch(/^8:[0-9a-f]{64}$/)
    expect(yield* problems({ head: parseHead(head) })).toEqual([])
  })

  test("reports a changed or deleted result, and a command that was deleted with it", function* () {
    const id = yield* idOf(4)
    yield* unguarded(`update audit_results set result = 'failed', code = 'x' where command_id = '${id}'`)
    expect(yield* problems()).toEqual([["changed", 4]])
    yield* unguarded(`delete from audit_results where command_id = '${id}'`)
    expect(yield* problems()).toEqual([["deleted", 4]])
    yield* unguarded(`delete from audit_log where id = '${id}'`)
    const deleted = yield* problems()
    expect(deleted).toEqual([
      ["deleted", 3],
      ["deleted", 4],
    ])
  })

  test("reports entries without a link, and entries with a deleted link", function* () {
    yield* unguarded(
      "insert into audit_log (id, os_user, host, command, arguments, objects, organizations) values ('aud_x', '', '', '', '{}', '{}', '{}')",
    )
    expect((yield* verifyAudit({})).faults).toMatchObject([{ number: null, id: "aud_x", problem: "unchained" }])
    const id = yield* idOf(3)
    yield* unguarded("delete from audit_log where id = 'aud_x'", "delete from audit_chain where number in (3, 4)")
    expect((yield* verifyAudit({})).faults).toMatchObject([
      { number: 3, problem: "missing", description: "The entries 3 to 4 are missing." },
      { id, problem: "unchained" },
      { id, problem: "unchained" },
    ])
  })

  test("reports an entry that was changed together with its hash", function* () {
    yield* unguarded(`update audit_log set command = 'x' where id = '${yield* idOf(3)}'`, ...rewriting(3, 3))
    expect(yield* problems()).toEqual([["replaced", 3]])
  })

  test("reports any change of a link, and an inserted one", function* () {
    const removed = "kind = 'removed', removed_at = now(), removed_by = ''"
    const changes = ["number = 9", removed, "command_id = 'aud_x'", "previous = sha256('')", "hash = sha256('')"]
    const inserted = "insert into audit_chain select 9, kind, 'aud_x', hash, hash from audit_chain where number = 8"
    for (const edit of [...changes.map((change) => `update audit_chain set ${change} where number = 3`), inserted]) {
      yield* Effect.andThen(restore, unguarded(edit))
      expect(yield* problems(), edit).not.toEqual([])
    }
  })

  test("requires a recorded head or an export to find a rewritten or truncated chain", function* () {
    const head = parseHead((yield* verifyAudit({})).head)
    const lines = yield* exported
    yield* unguarded(`update audit_log set command = 'x' where id = '${yield* idOf(3)}'`, ...rewriting(3, 8))
    expect(yield* problems()).toEqual([])
    expect(yield* problems({ head })).toEqual([["another", 8]])
    expect(yield* problems(against(lines))).toEqual([["another", 3]])
    yield* unguarded(
      ...["audit_results where command_id", "audit_log where id"].map(
        (rows) => `delete from ${rows} in (select command_id from audit_chain where number > 6)`,
      ),
      "delete from audit_chain where number > 6",
    )
    expect(yield* problems()).toEqual([])
    expect(yield* problems({ head })).toEqual([["cut off", 8]])
    expect(yield* problems({ head: { number: 8, hash: "0".repeat(64) } })).toEqual([["cut off", 8]])
  })

  test("reports the first difference between an export and a restored log", function* () {
    const lines = yield* exported
    yield* unguarded(`truncate ${TABLES.join(", ")}`)
    yield* record(2)
    expect(yield* problems()).toEqual([])
    expect(yield* problems(against(lines))).toEqual([["another", 1]])
    expect(yield* problems(against(yield* exported))).toEqual([])
  })

  test("reports a changed, omitted or repeated line of an export", function* () {
    const lines = (yield* exported).trimEnd().split("\n")
    const faultsOf = (changed: ReadonlyArray<string>) =>
      Effect.map(verifyAudit(against(changed.join("\n"))), ({ faults }) => faults)
    expect(yield* faultsOf(lines.slice(2))).toEqual([])
    expect(yield* faultsOf(lines.with(2, lines[2]!.replace("campaigns pause", "campaigns show")))).toMatchObject([
      { number: 3, problem: "changed", description: expect.stringMatching(/^In the file: Entry 3/) },
    ])
    expect(yield* faultsOf(lines.toSpliced(2, 1))).toMatchObject([{ number: 3, problem: "missing" }])
    for (const text of [lines[0]!, "", "{}", "x".repeat(100_000)]) {
      expect(yield* faultsOf([...lines, text, ""])).toMatchObject([
        { description: expect.stringContaining("Line 9 of the file") },
      ])
    }
    expect(yield* Effect.flip(verifyAudit({ exported: "nowhere.jsonl" }))).toMatchObject({ _tag: "UnreadableExport" })
  })
})

describe("the chain", () => {
  test("is complete while commands are recorded concurrently", function* () {
    yield* Effect.replicateEffect(record(3), 4, { concurrency: "unbounded", discard: true })
    const { entries, faults } = yield* verifyAudit(against(yield* exported))
    expect({ entries, faults }).toEqual({ entries: 32, faults: [] })
  })

  test("isn't locked by a transaction that disables an endpoint and continues", function* () {
    const { endpoint } = yield* seedCampaign({ recipients: 0 })
    // The second command runs on a separate connection.
    const others = Effect.promise(() => run(record(1)))
    yield* inTransaction(
      Effect.andThen(
        sql`select disable_endpoint(id, version, 'gone') from webhook_endpoints where id = ${endpoint.id}`,
        others,
      ),
    )
    expect(yield* problems()).toEqual([])
    const lines = (yield* exported).trimEnd().split("\n").slice(8)
    expect(lines.map((line) => JSON.parse(line).command)).toEqual([
      ...["campaigns pause", undefined, "endpoints disable", undefined],
    ])
  })

  test("exports every column of an entry", function* () {
    const [columns] = yield* asOwner(
      "select column_name as name from information_schema.columns where table_name in ('audit_log', 'audit_results')",
    )
    const ours: Readonly<Record<string, string>> = { begun_at: "at", ended_at: "at", command_id: "id" }
    const names = new Set(columns!.map(({ name }) => ours[name!] ?? name!))
    const lines = (yield* exported).split("\n").slice(0, 2)
    const keys = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line))))
    expect(keys).toEqual(new Set(["number", "hash", "previous", "kind", ...names]))
  })
})

it.each([
  "update audit_log set command = 'x'",
  "delete from audit_log",
  "truncate audit_log cascade",
  "update audit_results set result = 'failed', code = 'x'",
  "delete from audit_results",
])("the audit log can't be changed by the owner of its tables: %s", async (statement) => {
  const { reason } = await run(Effect.flip(asOwner(statement)))
  expect(String(reason.cause)).toContain("is append-only")
})

/** Runs a program in the folder, and returns its output. */
const outputOf = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise(async () => (await promisify(execFile)(program, args, { cwd: folder })).stdout)

describe("docs/audit.md", () => {
  test("has a program that verifies an export, and finds a changed line", function* () {
    const script = join(folder, "verify.mjs")
    writeFileSync(script, /```js\n(.*?)```/s.exec(page)![1]!)
    const check = (lines: string) => outputOf(process.execPath, script, file(lines))
    const lines = yield* exported
    expect(yield* check(lines)).toBe(`8 entries up to ${(yield* verifyAudit({})).head}\n`)
    const each = lines.split("\n")
    for (const changed of [
      lines.replace("Ada", "Bob"),
      each.toSpliced(3, 1).join("\n"),
      [each[1], ...each].join("\n"),
    ]) {
      expect(String((yield* Effect.flip(check(changed))).cause)).toMatch(/entry \d/)
    }
  })

  test("has a command that reads the number of the last exported entry", function* () {
    const [, command] = /\$\((tail .*)\)"/.exec(page)!
    file(yield* exported)
    expect(yield* outputOf("sh", "-c", command!)).toBe("8\n")
  })

  test("has steps that remove old commands and keep their links", function* () {
    const lines = yield* exported
    const steps = /```sql\n(.*?)```/s
      .exec(page)![1]!
      .split(";\n")
      .filter((step) => !/^\s*(begin|commit|)$/.test(step))
    const before = JSON.parse(lines.split("\n")[4]!).at
    yield* asOwner(...steps.map((step) => step.replace(/'\d{4}-[^']*'/, `'${before}'`)))
    expect(yield* verifyAudit(against(lines))).toMatchObject({ entries: 10, removed: 4, faults: [] })
    const rest = (yield* exported).trimEnd().split("\n")
    expect(rest[0]).toMatch(/"kind":"begun","id":"aud_\w+","removed":true}$/)
    expect(JSON.parse(rest.at(-1)!)).toMatchObject({ kind: "removed", role: expect.any(String) })
    expect(yield* problems(against(yield* exported))).toEqual([])
  })
})
