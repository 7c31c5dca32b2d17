import { routes } from "@outreach/console/routes"
import { controlOf, type Inputs } from "@outreach/console/view/inputs"
import type { CampaignId } from "@outreach/domain/Identifier"
import { createParser, everyCommand, wordsOf } from "@outreach/ops/everyCommand"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { beforeAll, expect, it } from "vitest"
// @boundaries-ignore the pages are seeded and opened as in the tests of the console
import { addressOf, type Seeded, seedOrganization } from "../../console/test/seedOrganization.ts"
// @boundaries-ignore the pages are seeded and opened as in the tests of the console
import { startConsole, type Visitor } from "../../console/test/startConsole.ts"

const test = startConsole()
let seeded: Seeded
let draft: CampaignId
let admin: Visitor

beforeAll(async () => {
  seeded = await test().run(seedOrganization("acme.test"))
  draft = (await test().run(seedCampaign({ recipients: 1, opensIn: 3600 }))).campaign.id
  admin = await test().as("admin")
})

const commandsIn = (document: Document): ReadonlyArray<string> => {
  const codes = [...document.querySelectorAll("main code")].map(({ textContent }) => textContent!)
  return codes.filter((text) => text.startsWith("ops "))
}

/** Removes the command lines from a page, and returns those in its text, which should be links to other pages. */
const sentencesIn = (document: Document): ReadonlyArray<string> => {
  for (const code of document.querySelectorAll("code, option")) code.remove()
  return document.querySelector("main")!.textContent!.match(/.{0,40}(?:\bops [a-z]+ [a-z]|\s--[a-z]).{0,20}/g) ?? []
}

it("every action of the console is recorded with the words of a command", async () => {
  const commands = (await everyCommand()).map(({ path }) => path.join(" "))
  const recorded = routes.flatMap((route) => ("command" in route && route.command !== undefined ? [route.command] : []))
  expect(recorded.length).toBeGreaterThan(20)
  expect([...new Set(recorded)].filter((words) => !commands.includes(words))).toEqual([])
})

it("every command that a page of the console shows is accepted by the command line", async () => {
  const parse = await createParser()
  const rejected: Array<unknown> = []
  const shown = new Set<string>()
  const pages = routes.filter(({ kind }) => kind === "page")
  const ofDraft = pages.filter(({ path }) => path.includes(":campaign"))
  const addresses = [
    ...pages.map((route) => addressOf(route, seeded)),
    ...ofDraft.map((route) => addressOf(route, { ...seeded, ids: { ...seeded.ids, campaign: draft } })),
  ]
  for (const address of addresses) {
    const { document } = await admin.get(address)
    const commands = commandsIn(document).filter((command) => !shown.has(command))
    const sentences = sentencesIn(document)
    if (sentences.length > 0) rejected.push({ address, sentences })
    for (const command of commands) {
      shown.add(command)
      const faults = await parse(wordsOf(command))
      if (faults.length > 0) rejected.push({ address, command, faults: faults.map(({ message }) => message) })
    }
  }
  expect(shown.size).toBeGreaterThan(90)
  expect(rejected).toEqual([])
})

/** Inputs that only change the display of the same rows. */
const NO_FILTERS = ["order", "sort", "count", "before", "after"]

/** Returns a value that an input accepts. */
const exampleOf = (name: string, input: Inputs[string]): string => {
  const ids: Readonly<Record<string, string>> = seeded.ids
  const { kind, options = [] } = controlOf(input) ?? {}
  const schema = "schema" in input ? input.schema : input
  const [word] = "literals" in schema ? (schema.literals as ReadonlyArray<string>) : options.map((each) => String(each))
  return ids[name] ?? word ?? TYPED[kind ?? "text"] ?? TYPED[name] ?? "x"
}
/** Values by kind or name of an input. */
const TYPED: Readonly<Record<string, string>> = {
  ...{ instant: "2026-11-01T00:00:00Z", date: "2026-11-01", by: "2026-12-31", to: "2026-11-20" },
  ...{ status: "503", "slower-than": "2s", type: "outreach.email_sent" },
}

it("every command next to a filtered list has the filters of the list", async () => {
  const dropped: Array<string> = []
  for (const { path, inputs } of routes.filter(({ kind, path }) => kind === "page" && !path.includes(":"))) {
    const { document } = await admin.get(path)
    if (document.querySelector("form.filters") === null) continue
    for (const [name, input] of Object.entries(inputs as Inputs)) {
      if (NO_FILTERS.includes(name)) continue
      const isSwitch = "control" in input && input.control.kind === "switch"
      const value = isSwitch ? "yes" : exampleOf(name, input)
      const address = `${path}?${new URLSearchParams({ [name]: value })}`
      const { document } = await admin.get(address)
      const commands = commandsIn(document).map((command) => command.split(/ |=/))
      const text = value.replace("00Z", "00.000000Z")
      if (
        commands.length > 0 &&
        !commands.some((words) => [value, text, `--${isSwitch ? name : value}`].some((each) => words.includes(each)))
      )
        dropped.push(`${address}: ${commands.map((words) => words.join(" ")).join("; ")}`)
    }
  }
  expect(dropped).toEqual([])
})
