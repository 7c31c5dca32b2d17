import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { inTransaction, sql } from "@outreach/testing/sql"
import { compileCache, TestProcess } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually, until } from "@outreach/testing/until"
import { Effect } from "effect"
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { commandLine } from "./commandLine.ts"

const { url, run, runJson, meanwhile } = commandLine()

const folder = temporaryFolder("ops-main", afterAll)

const MAIN = fileURLToPath(import.meta.resolve("../src/main.ts"))

/** Starts a program in an empty folder with only these settings. */
const start = (program: string, args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) => {
  const started = new TestProcess(
    spawn(program, args, { cwd: folder, env: { ...compileCache, PATH: process.env["PATH"], ...settings } }),
  )
  onTestFinished(async () => void (await started.kill()))
  return started
}
const startOps = (args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) =>
  start(process.execPath, [MAIN, ...args], settings)
const ended = async (started: TestProcess) => ({
  code: await started.ended,
  stdout: started.text,
  stderr: started.errors,
})

/** Runs the command line in a shell, as `$ops`. */
const shell = (script: string) =>
  ended(start("sh", ["-c", script], { DATABASE_URL: url(), ops: `${process.execPath} ${MAIN}` }))

const lockAwaited = () =>
  eventually(
    () =>
      meanwhile(
        sql`
          select from pg_stat_activity
          where application_name like 'outreach-ops/%' and wait_event_type = 'Lock' and datname = current_database()`,
      ),
    ({ length }) => length === 1,
  )

const whileLocked = <A>(campaignId: string, work: () => Promise<A>) =>
  meanwhile(
    inTransaction(Effect.andThen(sql`select from campaigns where id = ${campaignId} for update`, Effect.promise(work))),
  )

describe("the process", () => {
  it("prints one JSON value and exits with 0, and reads the address of the database from a file", async () => {
    const file = join(folder, "database_url")
    writeFileSync(file, `${url()}\n`)
    const { code, stdout, stderr } = await ended(startOps(["migrate", "--output", "json"], { DATABASE_URL_FILE: file }))
    expect({ code, stderr, value: JSON.parse(stdout) }).toEqual({ code: 0, stderr: "", value: { applied: [] } })
  })

  it("shows its help without loading the commands, and completes them without the libraries that few commands use", async () => {
    const printModules =
      'import { registerHooks } from "node:module"; registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) })'
    const modulesOf = async (...args: ReadonlyArray<string>) => {
      const flags = ["--import", `data:text/javascript,${printModules}`]
      const { code, stderr } = await ended(start(process.execPath, [...flags, MAIN, ...args]))
      expect(code).toBe(0)
      return stderr
    }
    expect(await modulesOf("--help")).not.toContain("operations/keys.ts")
    const modules = await modulesOf("--completions", "bash")
    expect(modules).toContain("operations/keys.ts")
    expect(modules).not.toMatch(/node_modules\/(zod|liquidjs|parse5|html-to-text|@effect\/sql-pg)\//)
  })

  it("shows the name of its wrapper in its help", async () => {
    const { stdout } = await ended(startOps(["keys", "create", "--help"], { OPS_COMMAND: "outreach-ops" }))
    expect(stdout.match(/\S*ops keys create/g)).toEqual(["outreach-ops keys create", "outreach-ops keys create"])
  })

  it("fails with one sentence if there is no database", async () => {
    expect(await ended(startOps(["organizations", "list"]))).toEqual({
      code: 1,
      stdout: "",
      stderr: "There is no database to work on: set DATABASE_URL, or start the sandbox in this folder.\n",
    })
  })

  it.skipIf(!existsSync("/dev/full"))("fails with a sentence if its output can't be written", async () => {
    expect(await shell("$ops organizations list --output json > /dev/full")).toEqual({
      code: 1,
      stdout: "",
      stderr: "The output could not be written: the disk is full. What the command has changed stays changed.\n",
    })
  })

  it("exits silently if the reader of its output is gone", async () => {
    expect(await shell("$ops status --watch | head -n 1")).toMatchObject({ code: 0, stderr: "" })
  })

  it("exits with 130 on SIGINT: an import rolls its batch back, and leaves no file of rejected lines", async () => {
    const { campaign } = await meanwhile(seedCampaign({ recipients: 0 }))
    const path = join(folder, "list.csv")
    // The first batch is rejected as a whole; the second waits.
    const line = (i: number) => (i < 1000 ? "1,2" : `${npi(i)},c${i}@clinic.test`)
    writeFileSync(path, ["npi,email", ...Array.from({ length: 1010 }, (_, i) => line(i))].join("\n"))
    const rejects = join(folder, "rejects.csv")
    const flags = ["--quiet", "--skip-bad", "--rejects", rejects]
    const args = ["recipients", "import", "--campaign", campaign.id, path, ...flags]
    const first = await whileLocked(campaign.id, async () => {
      const importing = startOps(args, { DATABASE_URL: url() })
      await lockAwaited()
      await importing.kill("SIGINT")
      return await ended(importing)
    })
    expect(first).toEqual({ code: 130, stdout: "", stderr: "" })
    expect(existsSync(rejects)).toBe(false)
    expect(await runJson(...args)).toMatchObject({ imported: 10, already_there: 0, bad_count: 1000 })
    expect(existsSync(rejects)).toBe(true)
  })

  it("exits with 130 on SIGINT: a replay that it follows continues", async () => {
    await meanwhile(seedDeadLetters(5))
    const following = startOps(["dead-letters", "replay", "--all"], { DATABASE_URL: url() })
    await until(following, ({ errors }) => errors.includes("\n"))
    await following.kill("SIGINT")
    const { code, stdout, stderr } = await ended(following)
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" })
    const [id] = /rpl_[0-9a-f]{32}/.exec(stderr)!
    expect(stderr).toBe(
      `The replay ${id} sends 5 dead letters at 100 per second, in 0 seconds.\n\nIt goes on without you. Follow it with \`ops replays show ${id} --follow\`, end it with \`ops replays cancel ${id}\`.\n`,
    )
    expect(await runJson("replays", "show", id)).toMatchObject({ state: "running", total: 5 })
    await runJson("replays", "cancel", id!, "--yes")
  })

  it("leaves an unfinished entry in the audit log if it is killed", async () => {
    const { campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
    await whileLocked(campaign.id, async () => {
      const cancelling = startOps(["campaigns", "cancel", campaign.id, "--yes"], { DATABASE_URL: url() })
      await lockAwaited()
      await cancelling.kill("SIGKILL")
    })
    const { data } = await runJson("audit", "list", "--command", "campaigns cancel", "--result", "unfinished")
    expect(data).toMatchObject([
      { arguments: { campaign: campaign.id, yes: true }, result: "unfinished", ended_at: null },
    ])
  })

  // util-linux's script gives a process a terminal.
  it.skipIf(spawnSync("script", ["--version"]).status !== 0)("asks for a confirmation on a terminal", async () => {
    await meanwhile(seedDeadLetters(3, { daysAgo: 91 }))
    const remove = `${process.execPath} ${MAIN} dead-letters remove --older-than 90d`
    const removing = start("script", ["-qec", remove, "/dev/null"], { DATABASE_URL: url() })
    await until(removing, ({ text }) => text.includes("(y/N)"))
    removing.child.stdin!.write("y")
    const { code, stdout } = await ended(removing)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("3 dead letters removed.") })
    expect(stdout).toMatch(
      /Remove dead letters: 3 dead letters \(0 replayed\) from before \S+ \S+ UTC \(all organizations\)/,
    )
  })
})

describe("a command line without its database", () => {
  it.each([
    ["28P01", "the server refuses the user or the password of ", () => url().replace(/:[^:@/]+@/, ":hunter2@")],
    ["3D000", "there is no database of the name in ", () => `${url()}_of_hunter2`],
    ["ECONNREFUSED", "nothing listens at ", () => `postgres://me:hunter2@${CLOSED_ADDRESS}/outreach`],
  ])("names the code %s and the reason in one sentence: %s…", async (code, fault, address) => {
    const { stderr, ...others } = await run(["organizations", "list"], { DATABASE_URL: address() })
    expect(others).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^No connection to the database of DATABASE_URL: [^\n]+; [^\n]+\.\n$/)
    expect(stderr).toContain(`: ${fault}`)
    expect(stderr).toContain(` (${code}).`)
    expect(stderr).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  it("points to migrate if the schema is missing", async () => {
    const address = Object.assign(new URL(url()), { pathname: "/postgres" })
    const { code, stderr } = await run(["organizations", "list"], { DATABASE_URL: address.href })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*\(42P01\): the schema is missing[^\n]+run `ops migrate`[^\n]+\.\n$/),
    })
  })

  it.each([
    [{ DATABASE_URL: "mysql://me:hunter2@db" }, "DATABASE_URL is malformed. It must be a postgres:// address.\n"],
    [{ OPS_OPERATOR: "two\nlines" }, "OPS_OPERATOR is malformed. It must be 1 to 200 characters on one line.\n"],
  ])("names a malformed setting without its value: %j", async (settings, stderr) => {
    const args = ["organizations", "create", "--name", "x"]
    expect(await run(args, settings)).toEqual({ code: 1, stdout: "", stderr })
  })
})

describe("without DATABASE_URL", () => {
  /** Runs command lines below the folder of a sandbox. */
  const inSandbox = (name: string, files: Readonly<Record<string, string>>) => {
    const sandbox = join(folder, name, ".sandbox")
    const here = join(folder, name, "deep", "inside")
    for (const path of [here, sandbox]) mkdirSync(path, { recursive: true })
    for (const [file, content] of Object.entries(files)) writeFileSync(join(sandbox, file), content)
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(here)
    onTestFinished(() => cwd.mockRestore())
    return (...args: ReadonlyArray<string>) => run([...args, "--output", "json"], { DATABASE_URL: "", SECRETS_KEY: "" })
  }

  it("works on the sandbox that runs here, with its keys and over http", async () => {
    const sandbox = inSandbox("running", {
      "sandbox.json": JSON.stringify({ base_url: `http://${CLOSED_ADDRESS}`, database_url: url() }),
      "keys.json": JSON.stringify({ SECRETS_KEY: SECRETS_KEY.toString("base64"), CURSOR_KEY: "" }),
    })
    const { id } = JSON.parse((await sandbox("organizations", "create", "--name", "Acme")).stdout)
    const rotated = await sandbox("secrets", "rotate", "--organization", id)
    expect(JSON.parse(rotated.stdout).signing_secret).toMatch(/^whsec_/)
    const endpoint = ["--organization", id, "--url", `http://${CLOSED_ADDRESS}/hooks`]
    expect((await sandbox("endpoints", "create", ...endpoint)).code).toBe(0)
    const checks: ReadonlyArray<{ check: string; status: string }> = JSON.parse((await sandbox("doctor")).stdout).error
      .checks
    const statuses = checks.map(({ check, status }) => `${check} ${status}`)
    const found = ["settings skipped", "database ok", "schema ok", "keys ok", "endpoints failed", "mail skipped"]
    expect(statuses).toEqual(expect.arrayContaining(found))
  })

  it("names the sandbox's file if it can't be read", async () => {
    const { code, stdout } = await inSandbox("broken", { "sandbox.json": "{" })("organizations", "list")
    const file = join(folder, "broken", ".sandbox", "sandbox.json")
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, error: { code: "sandbox_unreadable", file } })
  })
})
