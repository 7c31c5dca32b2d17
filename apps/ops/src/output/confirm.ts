import { Effect, Schema } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { onlySwitch } from "../inputs/Input.ts"
import { Output } from "./Output.ts"

/** A command that cannot be undone was not confirmed. */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", {
  /** The command's effect, to follow "to". */
  action: Schema.String,
  /** How many rows the command would affect; null if they are not counted. */
  count: Schema.NullOr(Schema.Int),
  flags: Schema.String,
}) {
  override get message(): string {
    return `Nothing was done: give ${this.flags} to ${this.action}.`
  }
}

/** `--yes`: confirms a command that cannot be undone. */
export const yes = onlySwitch("Do not ask; required without a terminal, and with --json")

/**
 * Asks on a terminal to confirm an action that cannot be undone. Fails if the user declines, and if there is no terminal.
 *
 * `action` begins with a verb and states what is affected: `cancel campaign cmp_…, which leaves 3 recipients without their e-mail`.
 */
export const confirm = Effect.fnUntraced(function* (
  action: string,
  options: {
    /** Whether the command line confirms the action. */
    readonly yes: boolean
    readonly count?: number
    /** Default `--yes`. */
    readonly flags?: string
  },
) {
  if (options.yes) return
  const { json } = yield* Output
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const message = `${action[0]!.toUpperCase()}${action.slice(1)}?`
  if (!json && canPrompt && (yield* Prompt.run(Prompt.Confirm({ message })))) return
  return yield* new NotConfirmed({ action, count: options.count ?? null, flags: options.flags ?? "--yes" })
})
