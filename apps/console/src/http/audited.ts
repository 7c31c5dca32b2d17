import { hostname } from "node:os"
import { AuditLog, type CommandEnd } from "@outreach/backoffice/operators/AuditLog"
import { recordArgument } from "@outreach/domain/operators/recordArgument"
import { osUser } from "@outreach/process/osUser"
import { Cause, Effect, Exit } from "effect"
import { PageError } from "./PageError.ts"
import type { RequestContext } from "./Route.ts"

/**
 * Records an operator's action in the audit log, before it and with its result. If the first entry can't be written, the action doesn't run.
 *
 * An action has the words and arguments of the equivalent command.
 */
export const audited = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }, R>(
  command: string,
  input: Readonly<Record<string, unknown>>,
  { operator, submission }: Pick<RequestContext, "operator"> & { readonly submission?: string | undefined },
  run: Effect.Effect<A, E, R>,
) {
  const log = yield* AuditLog
  const recorded = Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) =>
      value === undefined || value === false ? [] : [[name, recordArgument(name, value)]],
    ),
  )
  const begin = log
    .begin({
      command,
      arguments: recorded,
      operator: operator.name,
      osUser: osUser(),
      host: hostname(),
      concerns: operator.organizationId,
      submission,
    })
    .pipe(Effect.mapError(() => submittedAlready))
  return yield* Effect.acquireUseRelease(
    begin,
    () => run,
    (id, exit) =>
      Effect.catchDefect(log.end(id, endOf(exit)), () =>
        Effect.logWarning("failed to record an action's result in the audit log").pipe(
          Effect.annotateLogs({ command }),
        ),
      ),
  )
})

const submittedAlready = PageError.of(
  409,
  "Already submitted",
  "This form was already submitted, and it ran once. See the audit log for its result. To run it again, submit the form on this page.",
)

const endOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): CommandEnd => {
  if (Exit.isSuccess(exit)) return { result: "succeeded", code: null }
  if (Cause.hasInterruptsOnly(exit.cause)) return { result: "interrupted", code: null }
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
  return { result: "failed", code: failure === undefined ? "internal_error" : snakeCase(failure._tag) }
}

const snakeCase = (tag: string): string => tag.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()
