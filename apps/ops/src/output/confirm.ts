import { Effect, Schema } from "effect"
import { Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { Output } from "./Output.ts"

/** Nobody confirmed a command that cannot be undone. */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", {
  /** What the command would do, to follow "to". */
  action: Schema.String,
  /** How many things it would affect; null where that is not a number. */
  count: Schema.NullOr(Schema.Int),
  flags: Schema.String,
}) {
  override get message(): string {
    return `Nothing was done: give ${this.flags} to ${this.action}.`
  }
}

/** Replaces the question of a command that cannot be undone. */
export const yes = Flag.Boolean("yes").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Do it without a question; needed where there is no terminal, and with --json"),
  Flag.withDefault(false),
)

/**
 * Asks on a terminal whether to do what cannot be undone. Fails where the answer is no, and where nobody can be asked.
 *
 * `action` begins with a verb and says how much is affected: `cancel campaign cmp_…, which leaves 3 recipients without their e-mail`.
 */
export const confirm = Effect.fnUntraced(function* (
  action: string,
  options: {
    /** Whether the command line confirms already. */
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
