import { Effect } from "effect"
import { progressBar, progressLine } from "../../src/progress.ts"

// A process that shows a line, replaces it, and then shows a bar that it finishes.
Effect.gen(function* () {
  yield* Effect.gen(function* () {
    const line = yield* progressLine
    for (const text of ["one", "one", "x".repeat(200)]) yield* line.show(text)
  }).pipe(Effect.scoped)
  const bar = yield* progressBar("Importing", 2)
  yield* bar.advance(1)
  yield* bar.advance(1)
}).pipe(Effect.scoped, Effect.runPromise)
