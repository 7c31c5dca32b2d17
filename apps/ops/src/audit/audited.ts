import { fieldName } from "@outreach/backoffice/operations/Field"
import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { audited as recorded } from "@outreach/backoffice/operators/audited"
import { DisplayName, noneOr } from "@outreach/domain/textSchema"
import { osUser } from "@outreach/process/osUser"
import { setting } from "@outreach/process/setting"
import { Cause, Console, Effect, Record, Terminal } from "effect"
import type { Values } from "../inputs/paramsOf.ts"
import { describeFailure } from "../output/reportFailure.ts"

export const operator = setting("OPS_OPERATOR", noneOr(DisplayName), {
  default: "none",
  isAdvised: true,
  about:
    "name of the operator in [the audit log](../apps/ops/README.md#the-audit-log), in addition to the system user, host and database role",
})

/** The operator's name, otherwise the operating system's user. */
export const operatorOrUser = Effect.map(operator, (name) => name ?? osUser())

/** Records a command in the audit log. A command that creates the log is recorded when it ends. */
export const audited = Effect.fnUntraced(function* <E, R>(
  command: string,
  values: Values,
  run: Effect.Effect<void, E, R>,
  createsLog = false,
) {
  const { exists } = yield* AuditLog
  const name = yield* operator
  const record = <E, R>(run: Effect.Effect<void, E, R>) =>
    recorded({ command, input: Record.mapKeys(values, fieldName), operator: name }, run, { codeOf, onLost })
  if (!createsLog || (yield* exists)) return yield* record(run)
  return yield* Effect.onExit(run, (exit) =>
    Effect.flatMap(exists, (isCreated) => (isCreated ? Effect.ignore(record(exit)) : Effect.void)),
  )
})

const codeOf = (cause: Cause.Cause<unknown>): string | undefined => {
  const isQuit = cause.reasons.some((reason) => Cause.isFailReason(reason) && Terminal.isQuitError(reason.error))
  return isQuit ? undefined : describeFailure(cause).code
}

const onLost = (id: string): Effect.Effect<void> =>
  Console.error(`The audit log has no entry of how this command ended: ${id} stays unfinished.`)
