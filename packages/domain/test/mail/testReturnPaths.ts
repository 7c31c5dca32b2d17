import { Effect, Layer } from "effect"
import { ReturnPaths } from "../../src/mail/returned/ReturnPaths.ts"
import { type TestKey, testSeal } from "../hits/testSeal.ts"

/** Creates return paths sealed with separate keys. */
export const testReturnPaths = (domain: string, ...keys: ReadonlyArray<TestKey>): ReturnPaths["Service"] =>
  Effect.runSync(ReturnPaths.pipe(Effect.provide(Layer.provide(ReturnPaths.at(domain), testSeal(...keys)))))
