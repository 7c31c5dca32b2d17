import type { Command } from "effect/cli"
import { loadGroups } from "../src/ops.ts"

/** A command without subcommands, and the words that call it. */
export interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly command: Command.Command.Any
}

/** Returns every command that can be run, in the order of the help. */
export const everyCommand = async (): Promise<ReadonlyArray<Leaf>> => leavesOf(await loadGroups(""), [])

const leavesOf = (commands: ReadonlyArray<Command.Command.Any>, above: ReadonlyArray<string>): ReadonlyArray<Leaf> =>
  commands.flatMap((command) => {
    const path = [...above, command.name]
    const below = command.subcommands.flatMap(({ commands }) => commands)
    return below.length > 0 ? leavesOf(below, path) : [{ path, command }]
  })

/** Returns the words of an example as a shell splits them, with complete ids of objects that don't exist. */
export const wordsOf = (example: string): ReadonlyArray<string> => {
  const [, ...words] = [...example.replace(/ (?:>>?|<) .*/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  )
  return words.map((word) => word.replace(/_…$/, `_${"0".repeat(32)}`).replace("5f0c…", "5f0c".repeat(16)))
}
