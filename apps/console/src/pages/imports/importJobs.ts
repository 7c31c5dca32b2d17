import { randomUUID } from "node:crypto"
import { createRejectsFile } from "@outreach/backoffice/csv/badLines"
import { importFile } from "@outreach/backoffice/recipients/importFile"
import type { ImportId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import { type PendingList, PendingLists } from "./PendingLists.ts"

/** Time that an action waits for its work, so that most pages show the outcome. */
const WAIT = "3 seconds"

/** The targets of a list's columns, and the effect of an import. */
export interface ListCheck {
  readonly targets: ReadonlyArray<string>
  /** The file of rejected lines. */
  readonly rejects: string
  readonly scope: Scope.Closeable
  /** Undefined until the check has ended. */
  outcome: Effect.Success<ReturnType<typeof runCheck>> | undefined
}

const optionsFor = (targets: ReadonlyArray<string>, { name }: Operator) =>
  ({ skipBad: true, ignoreColumns: true, fields: [], targets, operator: name }) as const

const runCheck = Effect.fnUntraced(function* (
  { campaignId, path }: PendingList,
  targets: ReadonlyArray<string>,
  rejectsPath: string,
  operator: Operator,
) {
  const { write } = yield* createRejectsFile(rejectsPath)
  const rejects = { write, complete: Effect.void }
  return yield* importFile(campaignId, path, { ...optionsFor(targets, operator), check: true, rejects })
}, Effect.exit)

/** Checks a list with these targets for its columns. Replaces an earlier check. */
export const checkList = Effect.fnUntraced(function* (
  list: PendingList,
  targets: ReadonlyArray<string>,
  operator: Operator,
) {
  if (list.check !== undefined) yield* Scope.close(list.check.scope, Exit.void)
  const scope = yield* Scope.fork(list.scope)
  const check: ListCheck = { targets, rejects: `${list.path}-${randomUUID()}`, scope, outcome: undefined }
  list.check = check
  const work = Effect.tap(runCheck(list, targets, check.rejects, operator), (outcome) =>
    Effect.sync(() => {
      check.outcome = outcome
    }),
  )
  const fiber = yield* (yield* PendingLists).forkIn(Scope.provide(work, scope), scope)
  yield* Effect.timeoutOption(Fiber.await(fiber), WAIT)
})

/**
 * Imports a checked list. Returns the import's id once it has started, or undefined if it still waits for other lists. Until then the list stays
 * available.
 */
export const importList = Effect.fnUntraced(function* (list: PendingList, { targets }: ListCheck, operator: Operator) {
  const { take, forkIn } = yield* PendingLists
  const begun = yield* Deferred.make<ImportId, Effect.Error<ReturnType<typeof importFile>>>()
  let isBegun = false
  const onBegin = (id: ImportId) =>
    Effect.andThen(
      take(list),
      Effect.suspend(() => {
        isBegun = true
        return Deferred.succeed(begun, id)
      }),
    )
  const work = importFile(list.campaignId, list.path, { ...optionsFor(targets, operator), check: false, onBegin })
  const fiber = yield* forkIn(
    Effect.onExit(work, (exit) =>
      isBegun
        ? Scope.close(list.scope, Exit.void)
        : Deferred.done(
            begun,
            Exit.map(exit, () => "" as ImportId),
          ),
    ),
  )
  const id = Option.getOrUndefined(yield* Effect.timeoutOption(Deferred.await(begun), WAIT))
  if (id !== undefined) yield* Effect.timeoutOption(Fiber.await(fiber), WAIT)
  return id
})
