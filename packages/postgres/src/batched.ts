import { Deferred, Effect, Exit, Queue } from "effect"

/**
 * Makes a function of one item out of one of many: calls that come while `atOnce` writes are under way wait, and are then written
 * together, at most `most`.
 *
 * When a write of several fails, each is written by itself, so that one bad item fails alone.
 */
export const batched = Effect.fnUntraced(function* <Item, Result, E, R>(
  most: number,
  write: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>, E, R>,
  atOnce = 1,
) {
  const calls = yield* Queue.unbounded<{ readonly item: Item; readonly done: Deferred.Deferred<Result, E> }>()

  const writeTogether = Effect.fnUntraced(function* (
    batch: ReadonlyArray<{ readonly item: Item; readonly done: Deferred.Deferred<Result, E> }>,
  ): Effect.fn.Return<void, never, R> {
    const exit = yield* Effect.exit(write(batch.map(({ item }) => item)))
    if (Exit.isFailure(exit) && batch.length > 1) {
      return yield* Effect.forEach(batch, (call) => writeTogether([call]), { discard: true })
    }
    for (const [i, { done }] of batch.entries()) {
      yield* Deferred.done(
        done,
        Exit.map(exit, (results) => results[i]!),
      )
    }
  })

  const loop = Queue.takeBetween(calls, 1, most).pipe(Effect.flatMap(writeTogether), Effect.forever)
  yield* Effect.forkScoped(
    Effect.all(
      Array.from({ length: atOnce }, () => loop),
      { concurrency: "unbounded", discard: true },
    ),
  )

  return (item: Item): Effect.Effect<Result, E> =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<Result, E>()
      yield* Queue.offer(calls, { item, done })
      return yield* Deferred.await(done)
    })
})
