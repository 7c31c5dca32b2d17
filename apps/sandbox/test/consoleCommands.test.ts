import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { routes } from "@outreach/console/routes"
import { nameOf } from "@outreach/ops/audit/audited"
import { loadGroups } from "@outreach/ops/ops"
import type { Command, Param } from "effect/cli"
import { expect, it } from "vitest"

const PAGES = fileURLToPath(new URL("./pages", import.meta.resolve("@outreach/console/routes")))

/** Returns the flags of every command, by its words. */
const flagsByCommand = async (): Promise<ReadonlyMap<string, ReadonlyArray<string>>> =>
  new Map(leaves(await loadGroups("")))

const leaves = (
  commands: ReadonlyArray<Command.Command.Any>,
  above: ReadonlyArray<string> = [],
): ReadonlyArray<readonly [string, ReadonlyArray<string>]> =>
  commands.flatMap((command) => {
    const words = [...above, command.name]
    const below = command.subcommands.flatMap(({ commands }) => commands)
    return below.length > 0 ? leaves(below, words) : [[words.join(" "), namesOf(command)] as const]
  })

const namesOf = (command: Command.Command.Any): ReadonlyArray<string> => {
  const { orderedParams } = (command as unknown as { config: { orderedParams: ReadonlyArray<Param.Any> } }).config
  return orderedParams.map((param) => nameOf(param)!)
}

it("every action of the console is recorded with the words of a command", async () => {
  const commands = await flagsByCommand()
  const recorded = routes.flatMap((route) => ("command" in route && route.command !== undefined ? [route.command] : []))
  expect(recorded.length).toBeGreaterThan(20)
  expect([...new Set(recorded)].filter((words) => !commands.has(words))).toEqual([])
})

it("every command that a page of the console shows exists, with its flags", async () => {
  const commands = await flagsByCommand()
  const unknown: Array<string> = []
  let shown = 0
  for (const file of globSync("**/*.{ts,tsx}", { cwd: PAGES })) {
    const text = readFileSync(`${PAGES}/${file}`, "utf8").replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/.*/g, "")
    for (const [line, words] of text.matchAll(/\bops ([a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)?)[^\n`"<]*/g)) {
      shown++
      const [group = ""] = words!.split(" ")
      // The page's own code chooses among the commands of a group.
      if (line.startsWith(`ops ${group} \${`)) continue
      const command = [words!, group].find((name) => commands.has(name))
      const flags = Array.from(line.matchAll(/ --([a-z]+(?:-[a-z]+)*)/g), ([, flag]) => flag!)
      const missing = flags.filter((flag) => flag !== "output" && !commands.get(command ?? "")?.includes(flag))
      if (command === undefined || missing.length > 0) unknown.push(`${file}: ${line}`)
    }
  }
  expect(shown).toBeGreaterThan(50)
  expect(unknown).toEqual([])
})
