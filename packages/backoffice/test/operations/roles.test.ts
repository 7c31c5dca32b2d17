import { subjects } from "@outreach/backoffice/subjects"
import { expect, test } from "vitest"

type Module = Readonly<Record<string, unknown>>
interface Declared {
  readonly command: string
  readonly role: string
  readonly forPartners?: boolean
  readonly access?: string
  readonly filledBy?: string | null
}

/** Lists have no access. */
const isReading = (declared: Declared) => "read" in declared || declared.access !== undefined

const allDeclared = async () => {
  const modules = await Promise.all(
    Object.values(subjects).flatMap(([, load]): ReadonlyArray<Promise<object>> => load()),
  )
  return modules
    .flatMap((module) => Object.values(module as Module))
    .filter((value): value is Declared => typeof value === "object" && value !== null && "command" in value)
}

const commandsOf = async (isChosen: (declared: Declared) => boolean) => {
  const chosen = (await allDeclared()).filter(isChosen)
  return [...new Set(chosen.map(({ command }) => command))].sort().join("\n")
}

test("each list names a command that adds its rows, except these", async () => {
  expect(await commandsOf(({ filledBy }) => filledBy === null)).toMatchInlineSnapshot(`
    "audit list
    dead-letters list
    digests list
    inbox list
    issues list
    replays list
    signature-rejections list"
  `)
  const changing = (await commandsOf((declared) => !isReading(declared))).split("\n")
  const named = (await allDeclared()).flatMap(({ filledBy }) => filledBy ?? [])
  expect(named.filter((command) => !changing.includes(command))).toEqual([])
})

test("operators and admins may use these", async () => {
  expect(await commandsOf(({ role }) => role === "operator")).toMatchInlineSnapshot(`
    "campaigns create
    campaigns duplicate
    campaigns pause
    campaigns resume
    campaigns schedule
    campaigns test
    campaigns update
    dead-letters replay
    deliveries retry
    endpoints replay
    endpoints test
    inbox replay
    issues mute
    issues unmute
    programs archive
    programs create
    programs update
    recipients import
    replays cancel
    senders verify
    suppressions create
    suppressions remove"
  `)
})

test("viewers may use all commands that only read, except these, and no others", async () => {
  expect(await commandsOf((declared) => isReading(declared) !== (declared.role === "viewer"))).toMatchInlineSnapshot(`
    "clinicians export
    operators list"
  `)
})

test("partners may use these", async () => {
  expect(await commandsOf(({ forPartners, role }) => forPartners === true && role !== "admin")).toMatchInlineSnapshot(`
    "dead-letters list
    dead-letters replay
    deliveries list
    deliveries retry
    endpoints list
    endpoints replay
    endpoints test
    events list
    inbox list
    issues list
    replays cancel
    replays list
    signature-rejections list"
  `)
})

test("partners' admins may also use these, and no other command that manages an organization", async () => {
  expect(await commandsOf(({ forPartners, role }) => forPartners === true && role === "admin")).toMatchInlineSnapshot(`
    "endpoints create
    endpoints disable
    endpoints enable
    endpoints remove
    endpoints update
    keys create
    keys revoke
    keys rotate
    organizations update
    secrets rotate"
  `)
})
