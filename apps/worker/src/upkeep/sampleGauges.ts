import { GaugeSamples } from "@outreach/postgres/today/GaugeSamples"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/**
 * Keeps what the gauges read, for the operator console, until interrupted.
 *
 * All workers look each minute whether the sample of these five minutes is there; one takes it.
 */
export const sampleGauges = Effect.gen(function* () {
  const samples = yield* GaugeSamples
  return yield* retryForever("sampleGauges", Effect.andThen(samples.take, Effect.sleep("1 minute")))
})
