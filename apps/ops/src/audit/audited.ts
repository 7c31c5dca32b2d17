import { hostname } from "node:os"
import {
  type AuditedArguments,
  AuditLog,
  type BegunCommand,
  type CommandEnd,
} from "@outreach/backoffice/operators/AuditLog"
import { DisplayName } from "@outreach/domain/DisplayName"
import { recordArgument } from "@outreach/domain/operators/recordArgument"
import { noneOr } from "@outreach/domain/textSchema"
import { osUser } from "@outreach/process/osUser"
import { setting } from "@outreach/process/setting"
import { Cause, Console, Effect, Exit, Option, Terminal } from "effect"
import type { Param } from "effect/cli"
import { isParam, type Params, type Parsed } from "../inputs/Input.ts"
import { describeFailure } from "../output/reportFailure.ts"

export const operator = setting("OPS_OPERATOR", noneOr(DisplayName), {
  default: "none",
  isAdvised: true,
  about:
    "name of the operator in [the audit log](../apps/ops/README.md#the-audit-log), in addition to the system user, host and database role",
})

/** The operator's name, otherwise the operating system's user. */
export const operatorOrUser = Effect.map(operator, (name) => name ?? osUser())

/**
 * Records a command in the audit log at its start and its end. If the first entry can't be written, the handler doesn't run.
 * A killed command has only the first entry.
 */
export const audited =
  <E, R>(
    command: string,
    params: Params,
    handler: (input: Parsed) => Effect.Effect<void, E, R>,
    { createsLog = false }: { readonly createsLog?: boolean } = {},
  ) =>
  (input: Parsed) =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const begun: BegunCommand = {
        command,
        arguments: auditArguments(params, input),
        operator: yield* operator,
        osUser: osUser(),
        host: hostname(),
      }
      const end = (id: string, exit: Exit.Exit<void, E>) =>
        log
          .end(id, endOf(exit))
          .pipe(
            Effect.catchCause(() =>
              Console.error(`The audit log has no entry of how this command ended: ${id} stays unfinished.`),
            ),
          )
      // Commands have no form.
      const begin = Effect.orDie(log.begin(begun))
      if (createsLog && !(yield* log.exists)) {
        const recordBoth = (exit: Exit.Exit<void, E>) =>
          Effect.flatMap(log.exists, (exists) => (exists ? Effect.flatMap(begin, (id) => end(id, exit)) : Effect.void))
        return yield* Effect.onExit(handler(input), recordBoth)
      }
      return yield* Effect.acquireUseRelease(begin, () => handler(input), end)
    })

const endOf = <E>(exit: Exit.Exit<void, E>): CommandEnd => {
  if (Exit.isSuccess(exit)) return { result: "succeeded", code: null }
  const isQuit = exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && Terminal.isQuitError(reason.error))
  if (isQuit || Cause.hasInterruptsOnly(exit.cause)) return { result: "interrupted", code: null }
  return { result: "failed", code: describeFailure(exit.cause).code }
}

/** Returns the given arguments of a command for the audit log. A switch that is off by default counts as not given. */
const auditArguments = (params: Params, parsed: Parsed): AuditedArguments =>
  Object.fromEntries(argumentsOf(params, parsed))

const argumentsOf = (params: Params, parsed: Parsed): ReadonlyArray<readonly [string, AuditedArguments[string]]> =>
  Object.entries(params).flatMap(([key, param]) => {
    const value = parsed[key]
    if (!isParam(param)) return argumentsOf(param, value as Parsed)
    const given = Option.isOption(value)
      ? Option.toArray(value)
      : value === false || (Array.isArray(value) && value.length === 0)
        ? []
        : [value]
    return given.map((each) => [nameOf(param), recordArgument(nameOf(param), each)] as const)
  })

/** Returns a flag's or an argument's name on the command line. */
export const nameOf = (param: Param.Any | Params): string => {
  let each = param as { readonly _tag?: string; readonly param?: unknown; readonly name?: string }
  while (each._tag !== "Single" && each.param !== undefined) each = each.param as typeof each
  return each.name!
}
