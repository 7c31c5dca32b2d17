import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

/** Runs statements one after another as the owner of the tables, in one transaction. */
const asOwner = (...statements: ReadonlyArray<string>) =>
  meanwhile(
    SqlClient.SqlClient.use((sql) =>
      sql.withTransaction(Effect.forEach(statements, (statement) => sql.unsafe(statement))),
    ),
  )
/** Runs statements as a superuser who has switched off triggers and foreign keys. */
const unguarded = (...statements: ReadonlyArray<string>) =>
  asOwner("set local session_replication_role = replica", ...statements)

/** Records commands that succeed, each named by a number. */
const record = (count: number, command = "campaigns pause") =>
  meanwhile(
    Effect.gen(function* () {
      const log = yield* AuditLog
      for (let i = 0; i < count; i++) {
        const given = { campaign: `cmp_${i}`, reason: 'asked "by phone"\u2028', dry: true, npi: null }
        const id = yield* log.begin({ command, arguments: given, operator: "Ada Ö", osUser: "root", host: "h" })
        yield* log.end(id, { result: "succeeded", code: null })
      }
    }),
  )

const verify = async (...flags: ReadonlyArray<string>) => {
  const { code, stdout } = await run(["audit", "verify", ...flags, "--output", "json"])
  const answer = JSON.parse(stdout)
  expect(code).toBe(answer.error === undefined ? 0 : 1)
  return (answer.error ?? answer) as {
    code?: string
    entries: number
    removed: number
    head: string
    faults: ReadonlyArray<{ number: number | null; id: string | null; problem: string; description: string }>
  }
}
const problems = async (...flags: ReadonlyArray<string>) =>
  (await verify(...flags)).faults.map(({ number, problem }) => [problem, number])

const exported = async (...flags: ReadonlyArray<string>) => {
  const { code, stdout } = await run(["audit", "export", ...flags])
  expect(code).toBe(0)
  return stdout
}
const numbersOf = (lines: string) =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).number as number)

const idOf = async (number: number): Promise<string> => JSON.parse((await exported()).split("\n")[number - 1]!).id

/** The statements by which an owner writes the hashes of links anew, as the chain would. */
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

const folder = mkdtempSync(join(tmpdir(), "audit-"))
const file = (text: string) => {
  const path = join(folder, "audit.jsonl")
  writeFileSync(path, text)
  return path
}
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(async () => {
  await unguarded("truncate audit_log, audit_results, audit_chain")
  await record(4)
})

describe("audit verify", () => {
  it("finds nothing in a log of which nothing was changed, and names its head", async () => {
    const { entries, removed, head, faults } = await verify()
    expect({ entries, removed, faults }).toEqual({ entries: 8, removed: 0, faults: [] })
    expect(head).toMatch(/^8:[0-9a-f]{64}$/)
    expect(await problems("--head", head)).toEqual([])
    const { stdout } = await run(["audit", "verify"])
    expect(stdout).toContain(head)
  })

  it.each([
    ["another command", "update audit_log set command = 'campaigns cancel'", "changed"],
    ["another person", "update audit_log set operator = 'Bob'", "changed"],
    ["a second later", "update audit_log set begun_at = begun_at + interval '1 microsecond'", "changed"],
    ["other arguments", `update audit_log set arguments = '{"campaign":"cmp_9"}'`, "changed"],
  ])("names an entry that the owner has made say %s", async (_, statement) => {
    const id = await idOf(3)
    await unguarded(`${statement} where id = '${id}'`)
    const { faults, code } = await verify()
    expect(code).toBe("audit_log_differs")
    expect(faults).toMatchObject([{ number: 3, id, problem: "changed" }])
    expect(faults[0]!.description).toContain("Entry 3")
  })

  it("names an end that was changed or deleted, and a whole command that was", async () => {
    const id = await idOf(4)
    await unguarded(`update audit_results set result = 'failed', code = 'x' where command_id = '${id}'`)
    expect(await problems()).toEqual([["changed", 4]])
    await unguarded(`delete from audit_results where command_id = '${id}'`)
    expect(await problems()).toEqual([["deleted", 4]])
    await unguarded(`delete from audit_log where id = '${id}'`)
    expect(await problems()).toEqual([
      ["deleted", 3],
      ["deleted", 4],
    ])
  })

  it("names two entries whose contents were swapped, and links that were", async () => {
    const [one, other] = [await idOf(3), await idOf(5)]
    const columns = "begun_at, role, operator, os_user, host, command, arguments, objects, organizations, submission"
    await unguarded(
      `update audit_log set (${columns}) = (select ${columns} from audit_log each where each.id = case audit_log.id when '${one}' then '${other}' else '${one}' end) where id in ('${one}', '${other}')`,
    )
    expect(await problems()).toEqual([
      ["changed", 3],
      ["changed", 5],
    ])
    await unguarded(
      "update audit_chain set number = number + 100 where number in (3, 5)",
      "update audit_chain set number = 108 - number where number > 100",
    )
    expect((await problems()).map(([, number]) => number)).toEqual(expect.arrayContaining([3, 5]))
  })

  it("names entries that were put in past the chain, and those whose links were removed", async () => {
    await unguarded(
      "insert into audit_log (id, os_user, host, command, arguments, organizations) values ('aud_x', '', '', '', '{}', '{}')",
    )
    expect((await verify()).faults).toMatchObject([{ number: null, id: "aud_x", problem: "unchained" }])
    const id = await idOf(3)
    await unguarded("delete from audit_log where id = 'aud_x'", "delete from audit_chain where number in (3, 4)")
    expect((await verify()).faults).toMatchObject([
      { number: 3, problem: "missing", description: "The entries 3 to 4 are missing." },
      { id, problem: "unchained" },
      { id, problem: "unchained" },
    ])
  })

  it("names the entry that was changed together with its hash", async () => {
    await unguarded(`update audit_log set command = 'x' where id = '${await idOf(3)}'`, ...rewriting(3, 3))
    expect(await problems()).toEqual([["replaced", 3]])
  })

  it("needs a noted head, or an export, to find a chain that was written anew, or cut off", async () => {
    const { head } = await verify()
    const lines = await exported()
    const earlier = file(lines)
    await unguarded(`update audit_log set command = 'x' where id = '${await idOf(3)}'`, ...rewriting(3, 8))
    expect(await problems()).toEqual([])
    expect(await problems("--head", head)).toEqual([["another", 8]])
    expect(await problems("--against", earlier)).toEqual([["another", 3]])
    await unguarded(
      ...["audit_results where command_id", "audit_log where id"].map(
        (rows) => `delete from ${rows} in (select command_id from audit_chain where number > 6)`,
      ),
      "delete from audit_chain where number > 6",
    )
    expect(await problems()).toEqual([])
    expect(await problems("--head", head)).toEqual([["cut off", 8]])
    expect(await problems("--head", `8:${"0".repeat(64)}`)).toEqual([["cut off", 8]])
  })

  it("names what an earlier state lacks after a restore, and where the log then leads elsewhere", async () => {
    const lines = await exported()
    await unguarded("truncate audit_log, audit_results, audit_chain")
    await record(2)
    expect(await problems()).toEqual([])
    expect(await problems("--against", file(lines))).toEqual([["another", 1]])
    expect(await problems("--against", file(await exported()))).toEqual([])
  })

  it("names a line of an export that was changed, left out or repeated", async () => {
    const lines = (await exported()).trimEnd().split("\n")
    const against = (changed: ReadonlyArray<string>) => verify("--against", file(changed.join("\n")))
    expect((await against(lines.slice(2))).faults).toEqual([])
    expect((await against(lines.with(2, lines[2]!.replace("campaigns pause", "campaigns show")))).faults).toMatchObject(
      [{ number: 3, problem: "changed", description: expect.stringMatching(/^In the file: Entry 3/) }],
    )
    expect((await against(lines.toSpliced(2, 1))).faults).toMatchObject([{ number: 3, problem: "missing" }])
    for (const text of [lines[0]!, "", "{}", "x".repeat(100_000)]) {
      expect((await against([...lines, text, ""])).faults).toMatchObject([
        { description: expect.stringContaining("Line 9 of the file") },
      ])
    }
    expect(await runFailing("audit", "verify", "--against", "nowhere.jsonl")).toMatchObject({
      code: "unreadable_export",
    })
  })

  it("refuses a head that is none", async () => {
    for (const head of ["8", "8:abc", `0:${"0".repeat(64)}`]) {
      expect(await runFailing("audit", "verify", "--head", head)).toMatchObject({ exit: 2 })
    }
  })

  it("names whatever an owner edits, deletes, inserts or moves", async () => {
    const tables = { audit_log: "id", audit_results: "command_id", audit_chain: "number" }
    const columns = await asOwner(
      `select table_name as "table", column_name as name, data_type as type from information_schema.columns where table_name = any (array['${Object.keys(tables).join("','")}'])`,
    ).then(([rows]) => rows as unknown as ReadonlyArray<{ table: keyof typeof tables; name: string; type: string }>)
    const OTHER: Readonly<Record<string, string>> = {
      text: "'zz'",
      json: `'{"z":1}'`,
      ARRAY: "array['zz']",
      integer: "999",
      bytea: "'\\x00'",
      "timestamp with time zone": "now()",
    }
    const at = (table: keyof typeof tables, n: number) =>
      `${tables[table]} = (select ${tables[table]} from ${table} order by ${tables[table]} offset ${n} limit 1)`
    const edit = fc.tuple(fc.constantFrom(...columns), fc.nat(3)).map(([{ table, name, type }, n]) => {
      const value =
        name === "result"
          ? "'interrupted'"
          : name === "kind"
            ? "'removed', removed_at = now(), removed_by = ''"
            : OTHER[type]!
      const also =
        name === "code"
          ? ", result = 'failed'"
          : name === "removed_at" || name === "removed_by"
            ? ", kind = 'removed', removed_at = now(), removed_by = ''"
            : ""
      const change = also.includes(`${name} =`) ? also.slice(2) : `${name} = ${value}${also}`
      return `update ${table} set ${change} where ${at(table, n)}`
    })
    const removal = fc
      .tuple(fc.constantFrom(...(Object.keys(tables) as Array<keyof typeof tables>)), fc.nat(3))
      .map(([table, n]) => `delete from ${table} where ${at(table, n)}`)
    const insertion = fc.constantFrom(
      "insert into audit_log (os_user, host, command, arguments, organizations) values ('', '', '', '{}', '{}')",
      "insert into audit_chain (number, kind, command_id, previous, hash) values (9, 'begun', 'aud_x', (select hash from audit_chain where number = 8), sha256(''))",
    )
    const move = fc
      .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }))
      .filter(([a, b]) => a !== b)
      .map(
        ([a, b]) =>
          `update audit_chain set (kind, command_id, previous, hash) = (select kind, command_id || 'x', previous, hash from audit_chain each where number = ${b}) where number = ${a}`,
      )
    await fc.assert(
      fc.asyncProperty(fc.oneof({ arbitrary: edit, weight: 5 }, removal, insertion, move), async (statement) => {
        await unguarded("truncate audit_log, audit_results, audit_chain")
        await record(4)
        await unguarded(statement)
        expect((await verify()).faults.length, statement).toBeGreaterThan(0)
      }),
    )
  })
})

describe("audit export", () => {
  it("goes on after the last entry without gap or repeat, beside commands that run at the same time", async () => {
    let lines = await exported()
    const recording = Promise.all(Array.from({ length: 4 }, () => record(10)))
    for (let i = 0; i < 5; i++) lines += await exported("--since", String(numbersOf(lines).at(-1)))
    await recording
    lines += await exported("--since", String(numbersOf(lines).at(-1)))
    expect(numbersOf(lines)).toEqual(Array.from({ length: 88 }, (_, i) => i + 1))
    expect(await problems("--against", file(lines))).toEqual([])
  })

  it("goes on by the number that the command of docs/audit.md reads from the file", async () => {
    const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8")
    const [, command] = /\$\((tail .*)\)"/.exec(page)!
    file(await exported())
    expect(execFileSync("sh", ["-c", command!], { cwd: folder, encoding: "utf8" })).toBe("8\n")
  })

  it("begins at a time, or after an entry", async () => {
    const lines = (await exported()).trimEnd().split("\n")
    const { at } = JSON.parse(lines[4]!)
    expect(numbersOf(await exported("--since", at))).toEqual([5, 6, 7, 8])
    expect(numbersOf(await exported("--since", "6"))).toEqual([7, 8])
    expect(await exported("--since", "2100-01-01T00:00:00Z")).toBe("")
    expect(await exported("--since", "8")).toBe("")
    expect(await runFailing("audit", "export", "--since", "yesterday")).toMatchObject({ exit: 2 })
  })

  it("holds every column of an entry", async () => {
    const [columns] = await asOwner(
      "select column_name as name from information_schema.columns where table_name in ('audit_log', 'audit_results')",
    )
    const ours: Readonly<Record<string, string>> = { begun_at: "at", ended_at: "at", command_id: "id" }
    const names = new Set((columns as unknown as ReadonlyArray<{ name: string }>).map(({ name }) => ours[name] ?? name))
    const lines = (await exported())
      .split("\n")
      .slice(0, 2)
      .map((line) => JSON.parse(line))
    expect(new Set(lines.flatMap(Object.keys))).toEqual(new Set(["number", "hash", "previous", "kind", ...names]))
  })

  it("is verified by the program of docs/audit.md, which finds a changed line", async () => {
    const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8")
    const program = /```js\n(.*?)```/s.exec(page)![1]!
    const script = join(folder, "verify.mjs")
    writeFileSync(script, program)
    const check = (lines: string) =>
      execFileSync(process.execPath, [script, file(lines)], { encoding: "utf8", stdio: "pipe" })
    const lines = await exported()
    expect(check(lines)).toBe(`8 entries up to ${(await verify()).head}\n`)
    const each = lines.split("\n")
    for (const changed of [
      lines.replace("Ada", "Bob"),
      each.toSpliced(3, 1).join("\n"),
      [each[1], ...each].join("\n"),
    ]) {
      expect(() => check(changed)).toThrow(/entry \d/)
    }
  })
})

describe("the chain", () => {
  it("is written with the entry, by roles that cannot write to it", async () => {
    await runJson("organizations", "create", "--name", "Chained")
    expect((await verify()).entries).toBe(10)
  })

  it("is held by no transaction that disables an endpoint and goes on", async () => {
    const { endpoint } = await meanwhile(seedCampaign({ recipients: 0 }))
    const disable = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`select disable_endpoint(id, version, 'gone') from webhook_endpoints where id = ${endpoint.id}`
      yield* Effect.promise(() => record(1))
    })
    await meanwhile(SqlClient.SqlClient.use((sql) => sql.withTransaction(disable)))
    expect(await problems()).toEqual([])
    const commands = (await exported("--since", "8")).trimEnd().split("\n")
    expect(commands.map((line) => JSON.parse(line).command)).toEqual([
      "campaigns pause",
      undefined,
      "endpoints disable",
      undefined,
    ])
  })

  it("keeps the links of commands that are removed by the steps of docs/audit.md", async () => {
    const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8")
    const lines = await exported()
    const steps = /```sql\n(.*?)```/s
      .exec(page)![1]!
      .split(";\n")
      .filter((step) => !/^\s*(begin|commit|)$/.test(step))
    const before = JSON.parse(lines.split("\n")[4]!).at
    await asOwner(...steps.map((step) => step.replace(/'\d{4}-[^']*'/, `'${before}'`)))
    const verified = await verify("--against", file(lines))
    expect(verified).toMatchObject({ entries: 10, removed: 4, faults: [] })
    expect((await exported()).split("\n")[0]).toMatch(/"kind":"begun","id":"aud_\w+","removed":true}$/)
    expect(JSON.parse((await exported("--since", "9")).trim())).toMatchObject({
      kind: "removed",
      role: expect.any(String),
    })
    expect((await verify("--against", file(await exported()))).faults).toEqual([])
  })
})
