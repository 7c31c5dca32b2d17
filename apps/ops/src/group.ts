import type { List } from "@outreach/backoffice/lists/List"
import type { Operation } from "@outreach/backoffice/operations/Operation"
import type { Effect } from "effect"
import { Command } from "effect/cli"
import { command } from "./command.ts"
import type { AnyCommand, Services } from "./createCommand.ts"
import { listCommand } from "./listCommand.ts"

// biome-ignore-start lint/suspicious/noExplicitAny: inputs and rows are not covariant.
type AnyOperation = Operation<any, any, any, any, any>
type AnyList = List<any, any, any>
type Runs = (...given: any) => Effect.Effect<unknown, unknown, Services>
// biome-ignore-end lint/suspicious/noExplicitAny: as above.

/** An operation, a list, or a command with further options. All commands have the same services. */
type Listed =
  | { readonly command: string; readonly run: Runs; readonly plan?: Runs; readonly preview?: Runs }
  | { readonly command: string; readonly read: Runs }
  | AnyCommand

/** Creates a group of commands. The commands of operations and lists derive from their declarations. */
export const group = (name: string, about: string, commands: ReadonlyArray<Listed>): AnyCommand =>
  Command.make(name).pipe(
    Command.withDescription(about),
    Command.withSubcommands(
      commands.map((each) =>
        "read" in each ? listCommand(each as AnyList) : "run" in each ? command(each as AnyOperation) : each,
      ),
    ),
  ) as AnyCommand
