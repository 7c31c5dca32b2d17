import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import type { ColumnMap } from "@outreach/backoffice/csv/ColumnMap"
import { readColumns } from "@outreach/backoffice/csv/readHeader"
import { createRejectsFile, RejectsFile } from "@outreach/backoffice/csv/readLines"
import { UnusableFile } from "@outreach/backoffice/csv/readRows"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { TaskProgress } from "@outreach/backoffice/TaskProgress"
import type { CampaignId, ImportId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import {
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  FileSystem,
  Layer,
  Option,
  Scope,
  Semaphore,
  Stream,
} from "effect"
import { PageError, reject } from "../../http/PageError.ts"
import type { Upload } from "../../http/readForm.ts"

/** Maximum number of lists. */
export const MAX_PENDING = { ofOperator: 3, ofAll: 20 } as const
/** Lifetime of a list that isn't imported. */
export const KEPT_MS = 15 * 60_000
/** Age after which a file belongs to a killed process. */
const ABANDONED_MS = 60 * 60_000
/** Maximum number of lists in a check or import, each with a database connection. */
const CONCURRENCY = 2

/** Time that an action waits for its work, so that most pages show the outcome. */
const WAIT = "3 seconds"

/** Each column has a choice on the page of the check. */
const MAX_COLUMNS = 60

const PREFIX = "outreach-console-list-"

export type Report = Effect.Success<ReturnType<typeof importRecipients.run>>

/** The contents of a list's columns, and the effect of an import. */
export interface ListCheck {
  readonly map: ColumnMap
  /** The file of rejected lines. */
  readonly rejects: string
  readonly scope: Scope.Closeable
  readonly fiber: Fiber.Fiber<Report, TaggedFailure>
}

/** A list between its check and its import. */
export interface PendingList extends Effect.Success<ReturnType<typeof writeList>> {
  /** Closing it removes its files and ends its check. */
  readonly scope: Scope.Closeable
  check: ListCheck | undefined
}

export const GONE = "The uploaded list has expired (15 minutes) or the console was restarted. Upload the file again."

const tooMany = PageError.of(
  503,
  "Action failed",
  "The console stores too many lists of other operators. Try again in a few minutes, or import the list on the command line.",
)

const notWritable = PageError.of(
  503,
  "Action failed",
  "The console can't write to its temporary folder. Free disk space, or import the list on the command line.",
)

/** Writes a list to a file that only this process's user can read, until the scope closes, and reads its columns. */
const writeList = Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, upload: Upload) {
  const id = randomUUID()
  const path = join(tmpdir(), `${PREFIX}${id}`)
  // When it is removed, in Unix milliseconds.
  const until = (yield* Clock.currentTimeMillis) + KEPT_MS
  const file = yield* Effect.mapError(createPrivateFile(path), () => notWritable)
  yield* Stream.runForEach(upload.content, (bytes) => Effect.mapError(file.append(bytes), () => notWritable))
  const { columns, readAs } = yield* readColumns(path)
  if (columns.length > MAX_COLUMNS) {
    const reason = `it has ${columns.length} columns, more than the maximum of ${MAX_COLUMNS}: remove unneeded columns`
    return yield* new UnusableFile({ file: path, reason })
  }
  return { id, operatorId: operator.id, campaignId, name: upload.name, path, columns, readAs, until }
})

/** Stores the lists that operators have sent to this process until their import, for at most 15 minutes. */
export class PendingLists extends Context.Service<PendingLists>()("console/pages/imports/PendingLists", {
  make: Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const scope = yield* Effect.scope
    const work = yield* Semaphore.make(CONCURRENCY)
    const lists = new Map<string, PendingList>()
    let arriving = 0

    const remove = (id: string) =>
      Effect.suspend(() => {
        const list = lists.get(id)
        lists.delete(id)
        return list === undefined ? Effect.void : Scope.close(list.scope, Exit.void)
      })

    // Files of killed processes.
    const names = yield* Effect.orElseSucceed(files.readDirectory(tmpdir()), () => [])
    const removeAbandoned = Effect.fnUntraced(
      function* (path: string) {
        const { mtime } = yield* files.stat(path)
        const age = (yield* Clock.currentTimeMillis) - Option.getOrElse(mtime, () => new Date(0)).getTime()
        if (age > ABANDONED_MS) yield* files.remove(path)
      },
      (removal) => Effect.ignore(removal),
    )
    for (const name of names.filter((name) => name.startsWith(PREFIX))) yield* removeAbandoned(join(tmpdir(), name))

    return {
      /** Writes a list to a file, and reads its columns. Removes the operator's oldest lists if necessary. */
      hold: Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, upload: Upload) {
        const own = [...lists.values()].filter(({ operatorId }) => operatorId === operator.id)
        const oldest = own.slice(0, Math.max(0, own.length + 1 - MAX_PENDING.ofOperator))
        yield* Effect.forEach(oldest, ({ id }) => remove(id))
        if (lists.size + arriving >= MAX_PENDING.ofAll) return yield* tooMany
        arriving++
        const listScope = yield* Scope.fork(scope)
        const written = yield* writeList(operator, campaignId, upload).pipe(
          Scope.provide(listScope),
          Effect.onError(() => Scope.close(listScope, Exit.void)),
          Effect.provideService(FileSystem.FileSystem, files),
          Effect.ensuring(Effect.sync(() => arriving--)),
        )
        const list: PendingList = { ...written, scope: listScope, check: undefined }
        lists.set(list.id, list)
        yield* Effect.forkIn(Effect.delay(remove(list.id), KEPT_MS), scope)
        return list
      }),

      /** Finds an operator's list for a campaign; undefined if it was removed. */
      find: (operator: Operator, campaignId: CampaignId, id: string): PendingList | undefined => {
        const list = lists.get(id)
        return list?.operatorId === operator.id && list.campaignId === campaignId ? list : undefined
      },

      /** Takes a list out, so that it can't be imported twice or removed during its import. */
      take: ({ id }: PendingList) => Effect.suspend(() => (lists.delete(id) ? Effect.void : reject("ListGone", GONE))),

      /** Works on a list until the scope closes, on few lists at a time. */
      forkIn: <A, E, R>(work_: Effect.Effect<A, E, R>, of: Scope.Scope = scope) =>
        Effect.forkIn(work.withPermits(1)(Effect.provideService(work_, FileSystem.FileSystem, files)), of),
    }
  }),
}) {
  static readonly layer = Layer.effect(PendingLists, PendingLists.make)
}

const run = ({ campaignId, path: file }: PendingList, map: ColumnMap, { name }: Operator, check: boolean) =>
  importRecipients.run({ campaignId, file, map, check, skipBad: true, ignoreColumns: true }, name)

/** Checks a list with these contents of its columns. Replaces an earlier check. */
export const checkList = Effect.fnUntraced(function* (list: PendingList, map: ColumnMap, operator: Operator) {
  if (list.check !== undefined) yield* Scope.close(list.check.scope, Exit.void)
  const scope = yield* Scope.fork(list.scope)
  const rejects = `${list.path}-${randomUUID()}`
  const file = Effect.map(createRejectsFile(rejects), (created) => ({ ...created, complete: Effect.void }))
  const work = Effect.provideServiceEffect(run(list, map, operator, true), RejectsFile, file)
  const fiber = yield* (yield* PendingLists).forkIn(Scope.provide(work, scope), scope)
  list.check = { map, rejects, scope, fiber }
  yield* Effect.timeoutOption(Fiber.await(fiber), WAIT)
})

/** Imports a list. Returns the import's id unless it still waits for other lists. */
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
  if (id !== undefined) yield* Effect.timeoutOption(Fiber.await(fiber), WAIT)
  return id
})
