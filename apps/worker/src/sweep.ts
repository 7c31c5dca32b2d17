import { KeyRing } from "@outreach/domain/callers/KeyRing"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Forgets the rate windows that are over, once a minute, until interrupted. */
export const sweep = Effect.gen(function* () {
  const keys = yield* KeyRing
  return yield* persist("sweep", Effect.andThen(keys.forgetWindows, Effect.sleep("1 minute")))
})
