import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"

const url = migratedDatabase()
const folder = mkdtempSync(join(tmpdir(), "ops-main-"))
afterAll(() => rmSync(folder, { recursive: true }))

const MAIN = fileURLToPath(import.meta.resolve("../src/main.ts"))

/** Starts the command line as a child process, whose environment holds only the settings. */
const start = (
  args: ReadonlyArray<string>,
  {
    settings = {},
    cwd = folder,
    node = [],
  }: { settings?: Record<string, string>; cwd?: string; node?: ReadonlyArray<string> } = {},
) => {
  const child = spawn(process.execPath, [...node, MAIN, ...args], {
    cwd,
    env: settings,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk
  })
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, ...output })) }
}
const run = (...args: Parameters<typeof start>) => start(...args).ended

describe("the process", () => {
  it("prints one JSON value and exits with 0", async () => {
    const settings = { DATABASE_URL: url() }
    const { code, stdout, stderr } = await run(["migrate", "--output", "json"], { settings })
    expect({ code, stderr, answer: JSON.parse(stdout) }).toEqual({ code: 0, stderr: "", answer: { applied: [] } })
  })

  it("reads the database's address from a file", async () => {
    const file = join(folder, "database_url")
    writeFileSync(file, `${url()}\n`)
    const { code, stdout } = await run(["migrate", "--output", "json"], { settings: { DATABASE_URL_FILE: file } })
    expect({ code, answer: JSON.parse(stdout) }).toEqual({ code: 0, answer: { applied: [] } })
  })

  it("shows the help of every command without the libraries that few commands use", async () => {
    const printModules =
      'import { registerHooks } from "node:module"; registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) })'
    const { code, stderr } = await run(["--help"], { node: ["--import", `data:text/javascript,${printModules}`] })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("commands/keys.ts") })
    expect(stderr).not.toMatch(/node_modules\/(zod|liquidjs|parse5|html-to-text|@effect\/sql-pg)\//)
  })

  it("says how to name a database when there is none", async () => {
    expect(await run(["organizations", "list"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "There is no database to work on: set DATABASE_URL, or start the sandbox with `npm start`.\n",
    })
  })

  it.each([
    ["ECONNREFUSED", "nothing listens at ", () => "postgres://me:hunter2@127.0.0.1:1/outreach"],
    ["28P01", "the server refuses the user or the password of ", () => url().replace(/:[^:@/]+@/, ":hunter2@")],
    ["3D000", "there is no database of the name in ", () => `${url()}_of_hunter2`],
  ])("says in one sentence with the code %s and without a stack that %s…", async (code, fault, address) => {
    const { stderr, ...ended } = await run(["organizations", "list"], { settings: { DATABASE_URL: address() } })
    expect(ended).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^No connection to the database of DATABASE_URL: [^\n]+; [^\n]+\.\n$/)
    expect(stderr).toContain(`: ${fault}`)
    expect(stderr).toContain(` (${code}).`)
    expect(stderr).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  it("warns in doctor of variables that look like settings of the processes, without their values", async () => {
    const settings = { DATABASE_URL: url(), PROT: "hunter2", MAIL_PER_MINUT: "5", PATH: "/bin", DATABASE_URL_OLD: "x" }
    const { stdout } = await run(["doctor", "--output", "json"], { settings })
    const { checks } = JSON.parse(stdout) as { checks: ReadonlyArray<{ status: string; found: string }> }
    expect(checks.filter(({ found }) => found.includes("looks like")).map(({ found }) => found)).toEqual([
      "PROT is not a setting, and looks like PORT.",
      "MAIL_PER_MINUT is not a setting, and looks like MAIL_PER_MINUTE.",
    ])
    expect(stdout).not.toContain("hunter2")
  })

  it.skipIf(!existsSync("/dev/full"))("fails with a sentence where its output cannot be written", async () => {
    const child = spawn(
      "sh",
      ["-c", `"$0" "$1" organizations list --output json > /dev/full`, process.execPath, MAIN],
      {
        env: { DATABASE_URL: url() },
      },
    )
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "The output could not be written: the disk is full. What the command has changed stays changed.\n",
    })
  })

  it("ends without a word when the reader of its output has gone", async () => {
    const child = spawn("sh", ["-c", `"$0" "$1" status --watch | head -n 1`, process.execPath, MAIN], {
      env: { DATABASE_URL: url(), PATH: process.env["PATH"] },
    })
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  it("points to migrate where the schema is missing", async () => {
    const address = new URL(url())
    address.pathname = "/postgres"
    const { code, stderr } = await run(["organizations", "list"], { settings: { DATABASE_URL: address.href } })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*\(42P01\): the schema is missing[^\n]+run `ops migrate`[^\n]+\.\n$/),
    })
  })
})

describe("without DATABASE_URL", () => {
  const sandbox = (name: string): string => {
    const here = join(folder, name, "deep", "inside")
    mkdirSync(here, { recursive: true })
    mkdirSync(join(folder, name, ".sandbox"))
    return here
  }

  it("works on the sandbox that runs here, with its keys and over http", async () => {
    const cwd = sandbox("running")
    const file = (name: string, content: object) =>
      writeFileSync(join(folder, "running", ".sandbox", name), JSON.stringify(content))
    file("sandbox.json", { base_url: "http://127.0.0.1:8080", database_url: url() })
    file("keys.json", { SECRETS_KEY: SECRETS_KEY.toString("base64"), CURSOR_KEY: "" })
    const created = await run(["organizations", "create", "--name", "Acme", "--output", "json"], { cwd })
    const { id } = JSON.parse(created.stdout)
    const rotated = await run(["secrets", "rotate", "--organization", id, "--output", "json"], { cwd })
    expect(JSON.parse(rotated.stdout).signing_secret).toMatch(/^whsec_/)
    const endpoint = ["endpoints", "create", "--organization", id, "--url", "http://127.0.0.1:9/hooks"]
    expect((await run(endpoint, { cwd })).code).toBe(0)
    const { stdout } = await run(["doctor", "--output", "json"], { cwd })
    const checks: ReadonlyArray<{ check: string; status: string }> = JSON.parse(stdout).error.checks
    const statuses = checks.map(({ check, status }) => `${check} ${status}`)
    for (const found of [
      "settings skipped",
      "database ok",
      "schema ok",
      "keys ok",
      "endpoints failed",
      "mail skipped",
    ]) {
      expect(statuses).toContain(found)
    }
  })

  it("says so when the sandbox's file is no use", async () => {
    const cwd = sandbox("broken")
    const path = join(folder, "broken", ".sandbox", "sandbox.json")
    writeFileSync(path, "{")
    const { code, stderr } = await run(["organizations", "list"], { cwd })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(path) })
  })
})

describe("an import", () => {
  const write = (name: string, count: number, line: (i: number) => string): void =>
    writeFileSync(join(folder, name), ["npi,email", ...Array.from({ length: count }, (_, i) => line(i))].join("\n"))

  it("ends with 130 on SIGINT, lets its batch go, and leaves no file of refused lines", async () => {
    const settings = { DATABASE_URL: url() }
    const { campaign } = await Effect.runPromise(Effect.provide(seedCampaign({ recipients: 0 }), adaptersFor(url())))
    // The first batch is refused as a whole; the second waits.
    write("small.csv", 1010, (i) => (i < 1000 ? "1,2" : `${npi(i)},c${i}@clinic.test`))
    const flags = ["--quiet", "--skip-bad", "--rejects", "rejects.csv"]
    const args = ["recipients", "import", "--campaign", campaign.id, "small.csv", ...flags]
    const interrupted = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`select from campaigns where id = ${campaign.id} for update`
      const { child, ended } = start(args, { settings })
      // Not in a transaction, in which the view would never change.
      const waits = Effect.andThen(
        sql`select pg_stat_clear_snapshot()`,
        sql<{ pid: number }>`
        select pid from pg_stat_activity
        where application_name like 'outreach-ops/%' and wait_event_type = 'Lock' and datname = current_database()`,
      )
      yield* Effect.repeat(Effect.delay(waits, "20 millis"), { until: (rows) => rows.length === 1 })
      child.kill("SIGINT")
      return yield* Effect.promise(() => ended)
    })
    const first = await Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(interrupted)).pipe(
        Effect.provide(adaptersFor(url())),
      ),
    )
    expect(first).toEqual({ code: 130, stdout: "", stderr: "" })
    expect(existsSync(join(folder, "rejects.csv"))).toBe(false)
    const { stdout } = await run([...args, "--output", "json"], { settings })
    expect(JSON.parse(stdout)).toMatchObject({ imported: 10, already_there: 0, bad_count: 1000 })
    expect(existsSync(join(folder, "rejects.csv"))).toBe(true)
  })
})

describe("a replay that is followed", () => {
  it("ends with 130 on SIGINT, says that it goes on, and goes on", async () => {
    const settings = { DATABASE_URL: url() }
    await Effect.runPromise(Effect.provide(seedDeadLetters(5), adaptersFor(url())))
    const { child, ended } = start(["dead-letters", "replay", "--all"], { settings })
    await once(child.stderr, "data")
    child.kill("SIGINT")
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" })
    const [id] = /rpl_[0-9a-f]{32}/.exec(stderr)!
    expect(stderr).toBe(
      `Replaying 5 dead letters as ${id}.\n\nIt goes on without you. Follow it with \`ops replays show ${id} --follow\`, end it with \`ops replays cancel ${id}\`.\n`,
    )
    const shown = await run(["replays", "show", id, "--output", "json"], { settings })
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: "running", total: 5 })
  })
})

// util-linux's script gives a process a terminal.
describe.skipIf(spawnSync("script", ["--version"]).status !== 0)("a removal on a terminal", () => {
  it.each([
    ["y", 0, "Removed 3 dead letters."],
    ["n", 1, "Nothing was done: give --confirm 3"],
  ])("asks, and takes %s for an answer", async (key, expected, said) => {
    await Effect.runPromise(Effect.provide(seedDeadLetters(3, { daysAgo: 91 }), adaptersFor(url())))
    const remove = `${process.execPath} ${MAIN} dead-letters remove --older-than 90d`
    const child = spawn("script", ["-qec", remove, "/dev/null"], {
      env: { DATABASE_URL: url(), PATH: process.env["PATH"] },
    })
    let shown = ""
    child.stdout.on("data", (chunk) => {
      if (!shown.includes("Remove 3") && `${shown}${chunk}`.includes("(y/N)")) child.stdin.write(key)
      shown += chunk
    })
    const [code] = await once(child, "close")
    expect({ code, shown }).toEqual({ code: expected, shown: expect.stringContaining(said) })
    expect(shown).toMatch(/Remove 3 dead letters from before \S+ \S+ UTC, of which 0 were replayed, for good\?/)
    await Effect.runPromise(
      SqlClient.SqlClient.use((sql) => sql`truncate dead_letters`).pipe(Effect.provide(adaptersFor(url()))),
    )
  })
})
