import { audited as recorded } from "@outreach/backoffice/operators/audited"
import { Cause, Effect } from "effect"
import { PageError } from "./PageError.ts"
import type { RequestContext } from "./Route.ts"

/** Records an operator's action in the audit log, with the words and arguments of the equivalent command. */
export const audited = <A, E extends { readonly _tag: string }, R>(
  command: string,
  input: Readonly<Record<string, unknown>>,
  { operator, submission }: Pick<RequestContext, "operator"> & { readonly submission?: string | undefined },
  run: Effect.Effect<A, E, R>,
) =>
  Effect.mapError(
    recorded({ command, input, operator: operator.name, concerns: operator.organizationId, submission }, run, {
      codeOf: (cause) => snakeCase(cause.reasons.find(Cause.isFailReason)?.error._tag ?? "InternalError"),
      onLost: () =>
        Effect.annotateLogs(Effect.logWarning("failed to record an action's result in the audit log"), { command }),
    }),
    (error) => (error._tag === "SubmittedAlready" ? submittedAlready : (error as E)),
  )

const submittedAlready = PageError.of(
  409,
  "Already submitted",
  "This form was already submitted, and it ran once. See the audit log for its result. To run it again, submit the form on this page.",
)

const snakeCase = (tag: string): string => tag.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()
