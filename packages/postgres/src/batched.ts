import { Effect, Exit, Queue } from "effect"

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
  interface Call {
    readonly item: Item
    readonly answer: (exit: Exit.Exit<Result, E>) => void
  }
  const calls = yield* Queue.unbounded<Call>()

  const writeTogether = Effect.fnUntraced(function* (batch: ReadonlyArray<Call>): Effect.fn.Return<void, never, R> {
    const exit = yield* Effect.exit(write(batch.map(({ item }) => item)))
    if (Exit.isFailure(exit) && batch.length > 1) {
      return yield* Effect.forEach(batch, (call) => writeTogether([call]), { discard: true })
    }
    for (const [i, { answer }] of batch.entries()) answer(Exit.map(exit, (results) => results[i]!))
  })

  const loop = Queue.takeBetween(calls, 1, most).pipe(Effect.flatMap(writeTogether), Effect.forever)
  yield* Effect.forkScoped(
    Effect.all(
      Array.from({ length: atOnce }, () => loop),
      { concurrency: "unbounded", discard: true },
    ),
  )

  return (item: Item): Effect.Effect<Result, E> =>
    Effect.callback((answer) => {
      Queue.offerUnsafe(calls, { item, answer })
    })
})
