import { routes } from "@outreach/console/routes"
import { beforeAll, expect, it } from "vitest"
import { addressOf, type Seeded, seedOrganization } from "../../console/test/seedOrganization.ts"
import { startConsole, type Visitor } from "../../console/test/startConsole.ts"
import { createParser, everyCommand, wordsOf } from "../../ops/test/everyCommand.ts"

const test = startConsole()
let seeded: Seeded
let admin: Visitor

beforeAll(async () => {
  seeded = await test().run(seedOrganization("acme.test"))
  admin = await test().as("admin")
})

const commandsAt = async (address: string): Promise<ReadonlyArray<string>> => {
  const { document } = await admin.get(address)
  return [...document.querySelectorAll(".command [data-copy]")].map((button) => button.getAttribute("data-copy")!)
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
  for (const route of routes.filter(({ kind }) => kind === "page")) {
    const address = addressOf(route, seeded)
    for (const command of await commandsAt(address)) {
      shown.add(command)
      const faults = await parse(wordsOf(command))
      if (faults.length > 0) rejected.push({ address, command, faults: faults.map(({ message }) => message) })
    }
  }
  expect(shown.size).toBeGreaterThan(90)
  expect(rejected).toEqual([])
})
