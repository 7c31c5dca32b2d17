import { hostname } from "node:os"
import { osUser } from "@outreach/process/osUser"
import { Cause, Context, Effect, Exit } from "effect"
import { AuditLog, type BegunCommand, type CommandEnd } from "./AuditLog.ts"
import { recordArgument } from "./recordArgument.ts"

/** The id of the running command's entry in the audit log; null without one. */
export class RunningCommand extends Context.Reference<string | null>("backoffice/operators/RunningCommand", {
  defaultValue: () => null,
}) {}

interface Recorded extends Pick<BegunCommand, "command" | "operator" | "concerns" | "submission"> {
  /** The values of flags and arguments by name. A switch that is off and an empty list count as not given. */
  readonly input: Readonly<Record<string, unknown>>
}

interface Options<E> {
  /** Returns the code of a failure; undefined if the operator interrupted the command. */
  readonly codeOf: (cause: Cause.Cause<E>) => string | undefined
  /** Reports that the result couldn't be recorded. */
  readonly onLost: (id: string) => Effect.Effect<void>
}

/**
 * Records a command in the audit log at its start and with its result. If the first entry can't be written, it doesn't run. A killed command has
 * only the first entry.
 */
export const audited = Effect.fnUntraced(function* <A, E, R>(
  { input, ...begun }: Recorded,
  run: Effect.Effect<A, E, R>,
  { codeOf, onLost }: Options<E>,
) {
  const log = yield* AuditLog
  const isGiven = (value: unknown) =>
    value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
  const given = Object.entries(input).filter(([, value]) => isGiven(value))
  const entry = {
    ...begun,
    arguments: Object.fromEntries(given.map(([name, value]) => [name, recordArgument(name, value)])),
    osUser: osUser(),
    host: hostname(),
  }
  const endOf = (exit: Exit.Exit<A, E>): CommandEnd => {
    if (Exit.isSuccess(exit)) return { result: "succeeded", code: null }
    const code = Cause.hasInterruptsOnly(exit.cause) ? undefined : codeOf(exit.cause)
    return code === undefined ? { result: "interrupted", code: null } : { result: "failed", code }
  }
  return yield* Effect.acquireUseRelease(
    log.begin(entry),
    (id) => Effect.provideService(run, RunningCommand, id),
    (id, exit) => Effect.catchCause(log.end(id, endOf(exit)), () => onLost(id)),
  )
})
