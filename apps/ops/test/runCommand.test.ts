import { TaskProgress } from "@outreach/backoffice/TaskProgress"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { Output, showingProgress } from "../src/output/Output.ts"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const seed = () => meanwhile(seedCampaign({ recipients: 3 }))

describe("a confirmation", () => {
  it("prints the planned change in one sentence, or its count as JSON, and changes no data without --yes or a terminal", async () => {
    const { id } = (await seed()).campaign
    const cancel = ["campaigns", "cancel", id]
    const { code, stdout, stderr } = await run(cancel)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^Nothing was done\. Confirm with --yes\. Cancel “Spring”: 3 of 3 recipients \([^\n]+\.\n$/)
    expect(await runFailing(...cancel)).toMatchObject({ code: "not_confirmed", count: 3, exit: 1 })
    expect((await runJson("campaigns", "show", id)).status).toBe("draft")
  })

  it("prompts only on a terminal without --output json, with no as the default", async () => {
    const { id } = (await seed()).campaign
    const cancel = ["campaigns", "cancel", id]
    for (const key of ["n", "enter"]) expect((await run(cancel, {}, key)).code).toBe(1)
    expect((await run([...cancel, "--output", "json"], {}, "y")).code).toBe(1)
    expect((await runJson("campaigns", "show", id)).status).toBe("draft")
    expect((await run(cancel, {}, "y")).code).toBe(0)
    expect((await runJson("campaigns", "show", id)).status).toBe("cancelled")
  })

  it("doesn't prompt for a command that would make no change", async () => {
    const { program, campaign } = await seed()
    const remove = ["suppressions", "remove", "--program", program.id, "--npi", npi(9), "--reason", "asked"]
    expect(await runJson(...remove)).toMatchObject({ removed: 0 })
    await runJson("campaigns", "cancel", campaign.id, "--yes")
    expect(await runFailing("campaigns", "cancel", campaign.id)).toMatchObject({ code: "campaign_not_in_status" })
  })
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
    expect(csv.stdout.split(/\r?\n/)[0]).toBe(
      "id,name,contacts,created_at,clock_ahead_seconds,self_service,max_endpoints",
    )
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

/** Shows the progress of a step after ten seconds, and then a warning. */
const work = (options: { readonly json?: boolean; readonly quiet?: boolean }): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const console = { ...globalThis.console, error: (text: string) => lines.push(text) } as unknown as Console.Console
  return Effect.gen(function* () {
    const { say, warn, bar } = yield* TaskProgress
    const { advance } = yield* bar("Importing", 10)
    yield* TestClock.adjust("10 seconds")
    yield* advance(1)
    yield* say("said")
    yield* warn("warned")
    return lines
  }).pipe(
    showingProgress(options.quiet),
    Effect.scoped,
    Effect.provide(TestClock.layer()),
    Effect.provideService(Console.Console, console),
    Effect.provideService(Output, options.json === true ? "json" : "table"),
    Effect.runPromise,
  )
}

it("progress is not shown with --output json or --quiet, but warnings are shown with --quiet", async () => {
  expect(await work({})).toEqual(["Importing: 10%", "said", "warned"])
  expect(await work({ json: true })).toEqual([])
  expect(await work({ quiet: true })).toEqual(["warned"])
})
