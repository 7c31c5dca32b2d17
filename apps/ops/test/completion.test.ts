import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { compileCache } from "@outreach/testing/compileCache"
import { eventually } from "@outreach/testing/eventually"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { TestProcess } from "@outreach/testing/startProcess"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { url, run, runJson, runFailing } = commandLine()

const complete = async (...words: ReadonlyArray<string>) =>
  (await run(["complete", "--", ...words])).stdout.split("\n").filter((line) => line !== "")
const values = async (...words: ReadonlyArray<string>) => (await complete(...words)).map((line) => line.split("\t")[0])

/** Completes until an id is found: a busy machine may need longer than the limit of a second. */
const completes = (words: ReadonlyArray<string>, candidate: string) =>
  eventually(
    () => complete(...words),
    (lines) => lines.includes(candidate),
  )

describe("ops complete", () => {
  it("completes nouns, verbs, flags and choices", async () => {
    expect(await values("dead")).toEqual(["dead-letters"])
    expect(await values("keys", "r")).toEqual(["rotate", "revoke"])
    expect(await values("keys", "create", "--org")).toEqual(["--organization"])
    expect(await values("campaigns", "list", "--kind", "")).toEqual(["traffic", "survey"])
    expect(await values("campaigns", "list", "--output", "j")).toEqual(["json"])
  })

  it("completes ids by their start and by names, as flags and arguments, but not those of people", async () => {
    const { id } = await runJson("organizations", "create", "--name", "Zenith\tHealth".replace("\t", " "))
    const person = await runJson("operators", "create", "--name", "Dana Reyes", "--role", "viewer")
    await completes(["organizations", "show", "org_"], `${id}\tZenith Health`)
    await completes(["keys", "list", "--organization", "zen"], `${id}\tZenith Health`)
    expect(await values("keys", "list", "--organization", "%")).toEqual([])
    await completes(["operators", "remove", ""], `${person.id}\tviewer`)
    expect(await values("operators", "remove", "Dana")).toEqual([])
    expect(await values("replies", "show", "")).toEqual([])
  })

  it("prints nothing if the database does not respond", async () => {
    const away = { DATABASE_URL: `postgres://me:hunter2@${CLOSED_ADDRESS}/outreach` }
    expect(await run(["complete", "--", "organizations", "show", ""], away)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    })
  })
})

describe("the scripts of the shells", () => {
  const folder = mkdtempSync(join(tmpdir(), "ops-completion-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  const main = fileURLToPath(import.meta.resolve("../src/main.ts"))
  const program = join(folder, "outreach-ops")
  const wrapper = `#!/bin/sh\nOPS_COMMAND=outreach-ops exec "${process.execPath}" "${main}" "$@"\n`
  writeFileSync(program, wrapper, { mode: 0o755 })
  const script = join(folder, "_outreach-ops")

  /** For each shell, a program that prints the completions of its arguments. */
  const PROGRAMS = {
    bash: `. ${script}; complete -p outreach-ops >/dev/null || exit; COMP_WORDS=(outreach-ops "$@"); COMP_CWORD=$#; _outreach-ops; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // The body of a function of $fpath, which zsh's own function then shows.
    zsh: `_describe() { print -l -- "\${found[@]%%:*}" }; _files() { print files }; compdef() { exit 1 }
      fpath=(${folder}); autoload -Uz _outreach-ops; words=(outreach-ops "$@"); CURRENT=$#words; _outreach-ops`,
    fish: `source ${script}; complete -C "outreach-ops $argv" | cut -f1`,
  }
  const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0

  for (const shell of ["bash", "zsh", "fish"] as const) {
    it.skipIf(!has(shell))(`complete in ${shell} by running the program under the name of its wrapper`, async () => {
      const { id } = await runJson("organizations", "create", "--name", `${shell} & Sons`)
      writeFileSync(script, execFileSync(program, ["--completions", shell], { env: compileCache }))
      const typed = async (...words: ReadonlyArray<string>) => {
        const env = { PATH: `${folder}:${process.env["PATH"]}`, DATABASE_URL: url(), HOME: folder }
        const name = shell === "fish" ? [] : [shell]
        const started = new TestProcess(
          spawn(shell, ["-c", PROGRAMS[shell], ...name, ...words], { env: { ...compileCache, ...env }, cwd: folder }),
        )
        await started.ended
        return started.text.trim().split("\n")
      }
      // The program completes nothing if a busy machine needs longer than a second.
      await eventually(
        () => typed("organizations", "show", shell),
        (completed) => completed.join() === id,
      )
      // The shell completes files if the program knows nothing.
      expect(await typed("imports", "check", "_o")).toEqual([{ bash: "", zsh: "files", fish: "_outreach-ops" }[shell]])
    })
  }
})

describe("a list", () => {
  it("continues after the row that its note names, as a table, as JSON and as CSV", async () => {
    const named: Array<string> = []
    for (const name of ["Zeroth", "=First", "Second", "Third"])
      named.push((await runJson("organizations", "create", "--name", name)).id)
    const all = (await runJson("organizations", "list", "--limit", "1000")).data.map(({ id }: { id: string }) => id)
    const limit = String(all.indexOf(named[1]) + 1)
    const first = await run(["organizations", "list", "--limit", limit])
    const next = `ops organizations list --limit ${limit} --after ${named[1]}`
    expect(first.stderr).toBe(`There are more: ${next}\n`)
    const rest = await runJson(...next.split(" ").slice(1))
    expect(rest).toMatchObject({ data: [{ id: named[2] }, { id: named[3] }], has_more: false })
    const csv = await run(["organizations", "list", "--output", "csv"])
    expect(csv.stdout.split(/\r?\n/)[0]).toBe("id,name,contacts,created_at,clock_ahead_seconds")
    expect(csv.stdout).toContain(`${named[1]},'=First,0,`)
    expect(await runFailing("organizations", "list", "--after", "org_none")).toMatchObject({ code: "invalid_after" })
  })

  it("continues with the cursor of its reader, over pages that contain every row once", async () => {
    const all = (await runJson("audit", "list")).data.map(({ id }: { id: string }) => id)
    const found: Array<string> = []
    let after: ReadonlyArray<string> = []
    do {
      const page = await runJson("audit", "list", "--limit", "2", ...after)
      found.push(...page.data.map(({ id }: { id: string }) => id))
      after = page.has_more ? ["--after", page.after] : []
    } while (after.length > 0)
    expect(found).toEqual(all)
    expect(await runFailing("events", "list", "--after", "yesterday")).toMatchObject({ code: "invalid_after" })
  })
})
