import { randomUUID } from "node:crypto"
import { createRejectsFile, RejectsFile } from "@outreach/backoffice/csv/badLines"
import type { ColumnMap } from "@outreach/backoffice/csv/ColumnMap"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { TaskProgress } from "@outreach/backoffice/TaskProgress"
import type { ImportId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import { type ListCheck, type PendingList, PendingLists } from "./PendingLists.ts"

/** Time that an action waits for its work, so that most pages show the outcome. */
const WAIT = "3 seconds"

const run = ({ campaignId, path: file }: PendingList, map: ColumnMap, { name }: Operator, check: boolean) =>
  importRecipients.run({ campaignId, file, map, check, skipBad: true, ignoreColumns: true }, name)

const runCheck = Effect.fnUntraced(function* (list: PendingList, { map, rejects }: ListCheck, operator: Operator) {
  const file = { ...(yield* createRejectsFile(rejects)), complete: Effect.void }
  return yield* Effect.provideService(run(list, map, operator, true), RejectsFile, file)
}, Effect.exit)

/** Checks a list with these contents of its columns. Replaces an earlier check. */
export const checkList = Effect.fnUntraced(function* (list: PendingList, map: ColumnMap, operator: Operator) {
  if (list.check !== undefined) yield* Scope.close(list.check.scope, Exit.void)
  const scope = yield* Scope.fork(list.scope)
  const check: ListCheck = { map, rejects: `${list.path}-${randomUUID()}`, scope, outcome: undefined }
  list.check = check
  const work = Effect.tap(runCheck(list, check, operator), (outcome) =>
    Effect.sync(() => {
      check.outcome = outcome
    }),
  )
  const fiber = yield* (yield* PendingLists).forkIn(Scope.provide(work, scope), scope)
  yield* Effect.timeoutOption(Fiber.await(fiber), WAIT)
})

/** Imports a list. Returns the import's id unless it still waits for other lists, and the report of a quick import. */
export const importList = Effect.fnUntraced(function* (list: PendingList, map: ColumnMap, operator: Operator) {
  const { take, forkIn } = yield* PendingLists
  yield* take(list)
  const begun = yield* Deferred.make<ImportId, Effect.Error<ReturnType<typeof run>>>()
  const progress = { ...(yield* TaskProgress), begin: (id: ImportId) => Deferred.succeed(begun, id) }
  const work = run(list, map, operator, false).pipe(
    Effect.provideService(TaskProgress, progress),
    Effect.onError((cause) => Deferred.failCause(begun, cause)),
    Effect.ensuring(Scope.close(list.scope, Exit.void)),
  )
  const fiber = yield* forkIn(work)
  const id = Option.getOrUndefined(yield* Effect.timeoutOption(Deferred.await(begun), WAIT))
  const exit = id && Option.getOrUndefined(yield* Effect.timeoutOption(Fiber.await(fiber), WAIT))
  return { id, report: exit && Exit.isSuccess(exit) ? exit.value : undefined }
})
