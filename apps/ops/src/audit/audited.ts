import { hostname } from "node:os"
import { AuditLog, type BegunCommand, type CommandEnd } from "@outreach/backoffice/operators/AuditLog"
import { DisplayName } from "@outreach/domain/DisplayName"
import { noneOr } from "@outreach/domain/textSchema"
import { osUser } from "@outreach/process/osUser"
import { setting } from "@outreach/process/setting"
import { Cause, Console, Context, Effect, Exit, Terminal } from "effect"
import type { Command } from "effect/cli"
import { describeFailure } from "../output/reportFailure.ts"
import { auditArguments } from "./auditArguments.ts"

/** The group that the command line names: the first of its words that is not a flag. */
export class CommandGroup extends Context.Reference<string>("ops/CommandGroup", { defaultValue: () => "" }) {}

/** `OPS_OPERATOR`: the operator's name in the audit log. */
const operator = setting("OPS_OPERATOR", noneOr(DisplayName), "none")

/**
 * Records a command in the audit log: before its handler runs, and when it has ended. If the first entry cannot be written, the handler does not run.
 * A command that was killed leaves its first entry.
 */
export const audited =
  <Input, E, R>(
    name: string,
    config: Command.Command.Config,
    handler: (input: Input) => Effect.Effect<void, E, R>,
    { createsLog = false }: { readonly createsLog?: boolean } = {},
  ) =>
  (input: Input) =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const group = yield* CommandGroup
      const begun: BegunCommand = {
        command: group === name ? name : `${group} ${name}`,
        arguments: auditArguments(config, input),
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
      if (createsLog && !(yield* log.exists)) {
        const recordBoth = (exit: Exit.Exit<void, E>) =>
          Effect.flatMap(log.exists, (exists) =>
            exists ? Effect.flatMap(log.begin(begun), (id) => end(id, exit)) : Effect.void,
          )
        return yield* Effect.onExit(handler(input), recordBoth)
      }
      return yield* Effect.acquireUseRelease(log.begin(begun), () => handler(input), end)
    })

const endOf = <E>(exit: Exit.Exit<void, E>): CommandEnd => {
  if (Exit.isSuccess(exit)) return { result: "succeeded", code: null }
  const isQuit = exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && Terminal.isQuitError(reason.error))
  if (isQuit || Cause.hasInterruptsOnly(exit.cause)) return { result: "interrupted", code: null }
  return { result: "failed", code: describeFailure(exit.cause).code }
}
