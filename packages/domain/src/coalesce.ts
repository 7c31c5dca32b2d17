import { Effect, Exit } from "effect"

/**
 * Converts a function of many items into a function of one: calls made while `concurrency` writes are in progress wait, and are then
 * written together, at most `maxBatchSize`.
 *
 * A call without concurrent writes is written immediately. A call next to another write first waits for further calls of the
 * same event-loop turn. If a write of several items fails, each is written separately, so that only the bad item fails.
 * A counting write must not be `isRepeatable`: if only its reply was lost, it would count twice.
 */
export const coalesce = Effect.fnUntraced(function* <Item, Result, E, R>(
  maxBatchSize: number,
  write: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>, E, R>,
  { concurrency = 1, isRepeatable = true }: { readonly concurrency?: number; readonly isRepeatable?: boolean } = {},
) {
  interface Call {
    readonly item: Item
    readonly respond: (exit: Exit.Exit<Result, E>) => void
  }
  const calls: Array<Call> = []
  const idleWriters: Array<(next: Effect.Effect<void>) => void> = []
  let writing = 0
  let isGathering = false

  // Callers resume a writer directly: a queue would cost a single call an event-loop turn and two fibers.
  const wakeWriter = () => {
    if (isGathering) return
    const resume = idleWriters.pop()
    if (resume === undefined) return
    isGathering = writing > 0
    resume(isGathering ? Effect.yieldNow : Effect.void)
  }

  const writeBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<Call>): Effect.fn.Return<void, never, R> {
    writing++
    // A defect must not stop the writer, because all later calls would wait for it.
    const exit = yield* Effect.exit(Effect.suspend(() => write(batch.map(({ item }) => item))))
    writing--
    if (Exit.isFailure(exit) && batch.length > 1 && isRepeatable) {
      return yield* Effect.forEach(batch, (call) => writeBatch([call]), { discard: true })
    }
    for (const [i, { respond }] of batch.entries()) respond(Exit.map(exit, (results) => results[i]!))
  })

  // Other fibers may run between two steps of a writer, so the calls are counted again in the step that waits.
  const untilCalled = Effect.callback<void>((resume) => {
    if (calls.length > 0) resume(Effect.void)
    else idleWriters.push(resume)
  })
  const writer = Effect.suspend(() => {
    isGathering = false
    if (calls.length === 0) return untilCalled
    const batch = calls.splice(0, maxBatchSize)
    if (calls.length > 0) wakeWriter()
    return writeBatch(batch)
  }).pipe(Effect.forever({ disableYield: true }))
  yield* Effect.forkScoped(
    Effect.all(
      Array.from({ length: concurrency }, () => writer),
      { concurrency: "unbounded", discard: true },
    ),
    { startImmediately: true },
  )

  return (item: Item): Effect.Effect<Result, E> =>
    Effect.callback((respond) => {
      calls.push({ item, respond })
      wakeWriter()
    })
})
