import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { asRole } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { readFolder } from "../src/doctor/processEnvironments.ts"
import { agreementFindings, processSettingFindings, roleFindings } from "../src/doctor/processFindings.ts"
import { commandLine } from "./commandLine.ts"

const { url, run, meanwhile } = commandLine()

const KEY = Buffer.from("0123456789abcdef0123456789ABCDEF").toString("base64")
const OTHER_KEY = Buffer.from("0123456789ABCDEF0123456789abcdef").toString("base64")

/** The files of the folder that the units of systemd read, by their paths. */
const layout = (): Record<string, string> => ({
  "outreach.env": `# of all\nDEPLOYMENT=staging\nPUBLIC_BASE_URL='http://127.0.0.1:1'\nMAIL_FROM="Acme <mail@acme.test>"\n`,
  "api.env": "TRUST_PROXY=loopback\n",
  "credentials/api.database_url": asRole(url(), "api"),
  "credentials/worker.database_url": `${asRole(url(), "worker")}\n`,
  "credentials/console.database_url": asRole(url(), "operator"),
  "credentials/migrate.database_url": url(),
  "credentials/secrets_key": KEY,
  "credentials/cursor_key": KEY,
  "credentials/smtp_url": "smtp://hunter2:hunter2@127.0.0.1:1\n",
})

const folderOf = (files: Record<string, string | Uint8Array | undefined>) => {
  const folder = mkdtempSync(join(tmpdir(), "outreach-env-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    if (content === undefined) continue
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

type Check = "files" | "settings" | "agreement" | "roles"

/** Returns what is wrong with the folder after changes to its files, as `<check> <status>: <sentence>`. */
const wrongWith = async (changes: Record<string, string | Uint8Array | undefined>, ...checks: ReadonlyArray<Check>) => {
  const { environments, findings } = readFolder(folderOf({ ...layout(), ...changes }))
  const found = {
    files: Effect.succeed(findings),
    settings: processSettingFindings(environments),
    agreement: agreementFindings(environments),
    roles: roleFindings(environments),
  }
  const made = await Promise.all(
    checks.map(async (check) =>
      (await Effect.runPromise(found[check]))
        .filter(({ status }) => status !== "ok")
        .map(({ status, found }) => `${check} ${status}: ${found}`),
    ),
  )
  const wrong = made.flat().filter((each) => !each.includes("sees no transaction"))
  expect(wrong.join()).not.toMatch(/hunter2|outreach_test_\w+:/)
  return wrong
}

/** Runs the doctor, and returns what it found, as `<check> <status>: <sentence>`. */
const consult = async (...args: ReadonlyArray<string>) => {
  const { stdout } = await run(["doctor", "--output", "json", ...args], { DATABASE_URL: "", SECRETS_KEY: "" })
  for (const secret of [KEY, OTHER_KEY, "hunter2"]) expect(stdout).not.toContain(secret)
  const value = JSON.parse(stdout)
  const checks: ReadonlyArray<Record<string, string>> = (value.error ?? value).checks
  return checks.map(({ check, status, found }) => `${check} ${status}: ${found}`)
}

describe("doctor --all-processes", () => {
  it("accepts the folder that the units read, with each process in its role, and continues as the operators", async () => {
    expect(await wrongWith({}, "files", "settings", "agreement", "roles")).toEqual([])
    // outreach-ops reads no credentials of the units.
    const ofOperators = { "ops.env": `DATABASE_URL='${asRole(url(), "operator")}'\nSECRETS_KEY=${KEY}\n` }
    expect(await wrongWith(ofOperators, "files", "settings", "agreement", "roles")).toEqual([])
    const found = (await consult("--all-processes", "--env-folder", folderOf(layout()))).join("\n")
    for (const title of ["API", "worker", "console", "migration"]) {
      expect(found).toMatch(new RegExp(`^settings ok: The ${title} accepts its \\d+ settings`, "m"))
    }
    expect(found).toMatch(/^agreement ok: The processes agree on the \d\d settings that they share\.$/m)
    expect(found).toMatch(/^roles ok: The API connects as outreach_test_api, which has the rights of api; /m)
    expect(found).toMatch(/^roles ok: The migration connects as \w+, which owns (\d+) of \1 tables\.$/m)
    expect(found).toMatch(/^keys ok: SECRETS_KEY is valid/m)
  })

  it("fails for missing files and settings, and names the process", async () => {
    const folder = folderOf({})
    const found = await consult("--all-processes", "--env-folder", folder)
    expect(found).toContain(`files failed: The file ${folder}/outreach.env does not exist.`)
    expect(found.filter((each) => each.startsWith("settings failed: DATABASE_URL is not set."))).toHaveLength(2)
    const missing = { "credentials/smtp_url": undefined, "credentials/cursor_key": "\n" }
    expect(await wrongWith(missing, "settings")).toEqual([
      expect.stringMatching(/^settings failed: The content of CURSOR_KEY_FILE is empty\./),
      expect.stringMatching(/^settings failed: SMTP_URL is not set\./),
    ])
  })

  it.each<[string | Uint8Array, RegExp]>([
    ["x".repeat(10_000_000), /holds more than 64 KiB\.$/],
    [new Uint8Array([0xff, 0xfe, 0x41]), /is not a text in UTF-8\.$/],
    ["A=1\0", /is not a text\.$/],
    ["\uFEFFHOST=127.0.0.1\n", /begins with a byte order mark\.$/],
  ])("names a file without settings, and shows nothing of it", async (content, problem) => {
    expect(await wrongWith({ "api.env": content }, "files")).toEqual([expect.stringMatching(problem)])
    expect((await wrongWith({ "credentials/cursor_key": content }, "settings"))[0]).toMatch(problem)
  })

  it("names a folder in place of a file", async () => {
    const folder = folderOf({ ...layout(), "api.env": undefined })
    mkdirSync(join(folder, "api.env"))
    expect(readFolder(folder).findings).toMatchObject([
      { status: "failed", found: `The file ${folder}/api.env is not a regular file.` },
    ])
  })

  it.each([
    "DOCS_URL=http://x#y",
    "DOCS_URL=http://x # of ours",
    'DOCS_URL="http://x\\ny"',
    "DOCS_URL=http://x\\",
    "DOCS_URL=`http://x`",
    "export DOCS_URL=http://x",
    "DOCS_URL='http://x'y",
    "DOCS_URL='http://x",
    "DOCS_URL",
    "docs url=http://x",
  ])("rejects the line %s, which systemd and Node read differently or not at all", async (line) => {
    const wrong = await wrongWith({ "api.env": `; of the API\nTRUST_PROXY=loopback\n${line}\n` }, "files")
    expect(wrong[0]).toMatch(/^files failed: Line 3 of \S+\/api\.env is read differently by systemd, shells and Node/)
  })

  it("reads the line ends of Windows, and names repeated, misspelt and foreign settings", async () => {
    expect(await wrongWith({ "api.env": "TRUST_PROXY=loopback\r\nDOCS_URL='http://x/#y'\r\n" }, "files")).toEqual([])
    const lines = ["HOST=127.0.0.1", "HOST=127.0.0.2", "MAIL_PER_MINUTE=1", "SHUTDOWN_DELAY_SECOND=1"]
    expect(await wrongWith({ "api.env": lines.join("\n") }, "files")).toEqual([
      expect.stringMatching(/^files warning: HOST stands more than once in \S+api\.env; the last one counts\.$/),
      expect.stringMatching(/^files warning: MAIL_PER_MINUTE stands in \S+api\.env, and the API does not read it\.$/),
      "files warning: SHUTDOWN_DELAY_SECOND is not a setting, and looks like SHUTDOWN_DELAY_SECONDS.",
    ])
  })

  it("names the settings on which processes disagree", async () => {
    const changes = {
      "worker.env": `SECRETS_KEY=${OTHER_KEY}\nSECRETS_KEY_FILE=\nPUBLIC_BASE_URL=http://127.0.0.1:2\n`,
      "credentials/worker.database_url": asRole(url(), "worker").replace(/\/[^/]*$/, "/hunter2"),
    }
    expect(await wrongWith(changes, "agreement")).toEqual([
      "agreement failed: PUBLIC_BASE_URL of the API differs from that of the worker.",
      "agreement failed: SECRETS_KEY of the API differs from that of the worker.",
      "agreement failed: The server or the database of DATABASE_URL of the API differs from that of the worker.",
    ])
  })

  it("names a role that is wrong, shared, without a right or with one too many, and a database without a connection", async () => {
    const swapped = {
      "credentials/api.database_url": asRole(url(), "worker"),
      "credentials/console.database_url": url(),
      "credentials/migrate.database_url": asRole(url(), "api"),
    }
    expect(await wrongWith(swapped, "roles")).toEqual([
      "roles failed: The API connects as outreach_test_worker, which has the rights of worker, not those of api.",
      expect.stringMatching(
        /^roles failed: The console connects as \w+, which owns \d+ of \d+ tables, not those of operator\.$/,
      ),
      expect.stringMatching(
        /^roles failed: The migration connects as outreach_test_api, which owns only 0 of \d+ tables\.$/,
      ),
      "roles warning: The API and the worker connect with the same role, outreach_test_worker.",
    ])
    const statements = (...texts: ReadonlyArray<string>) =>
      meanwhile(SqlClient.SqlClient.use((sql) => Effect.forEach(texts, (text) => sql.unsafe(text))))
    onTestFinished(async () => {
      await statements("grant insert on hits to outreach_test_api", "revoke delete on events from outreach_test_worker")
    })
    await statements("revoke insert on hits from outreach_test_api", "grant delete on events to outreach_test_worker")
    expect(await wrongWith({}, "roles")).toEqual([
      "roles failed: The API connects as outreach_test_api, which lacks 1 right of its kind: insert on hits.",
      "roles failed: The worker connects as outreach_test_worker, which has 1 right that its kind does not need: delete on events.",
    ])
    const closed = { "credentials/api.database_url": `postgres://outreach_test_api:hunter2@${CLOSED_ADDRESS}/outreach` }
    expect((await wrongWith(closed, "roles"))[0]).toMatch(
      /^roles failed: The role of the API could not be looked at: .*ECONNREFUSED/,
    )
  })
})

describe("doctor --env-file", () => {
  it("accepts files of processes, of which the later overrides the earlier, and one for all", async () => {
    const folder = folderOf({
      shared: `SECRETS_KEY=${KEY}\nDATABASE_URL=${asRole(url(), "api")}\n`,
      api: `CURSOR_KEY=${KEY}\nPORT=hunter2\n`,
      more: "PORT=8081\n",
      worker: `DATABASE_URL=${asRole(url(), "worker")}\nSMTP_URL=smtp://127.0.0.1:1\nMAIL_FROM=mail@acme.test\n`,
    })
    const file = (name: string, path: string) => ["--env-file", name + join(folder, path)]
    const args = [...file("", "shared"), ...file("api=", "api"), ...file("api=", "more"), ...file("worker=", "worker")]
    const found = (await consult(...args)).filter((each) => /^(?:files|settings|agreement|roles) /.test(each))
    expect(found.filter((each) => !each.includes("sees no transaction"))).toEqual([
      expect.stringMatching(/^settings ok: The API accepts/),
      expect.stringMatching(/^settings ok: The worker accepts/),
      expect.stringMatching(/^agreement ok: /),
      expect.stringMatching(/^roles ok: The API connects as outreach_test_api/),
    ])
    const missing = await consult("--env-file", `api=${folder}/none`)
    expect(missing).toContain(`files failed: The file ${folder}/none does not exist.`)
  })
})
