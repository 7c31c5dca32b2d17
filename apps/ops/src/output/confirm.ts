import { Effect } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { onlySwitch } from "../inputs/Input.ts"
import { Output } from "./Output.ts"
import { refuse } from "./refuse.ts"

/** Fails for a command that cannot be undone and was not confirmed. `count` says how many rows it would affect, if they are counted. */
export const notConfirmed = ({
  action,
  count = null,
  flags = "--yes",
}: {
  readonly action: string
  readonly count?: number | null
  readonly flags?: string
}) => refuse("NotConfirmed", `Nothing was done: give ${flags} to ${action}.`, { action, count, flags })

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
  return yield* notConfirmed({ action, ...options })
})
