import { Effect, type Scope } from "effect"
import { it } from "vitest"

/** Creates a function that registers a test whose body is an effect, written as a generator and run by `run` in a scope of its own. */
export const effectTest =
  <Run extends (effect: never) => Promise<unknown>>(run: Run) =>
  <Eff extends Effect.Effect<unknown, unknown, Effect.Services<Parameters<Run>[0]> | Scope.Scope>>(
    title: string,
    body: () => Generator<Eff, void, never>,
  ): void =>
    it(title, () => run(Effect.scoped(Effect.gen(body)) as never).then(() => {}))
