import { createHmac } from "node:crypto"
import { Effect, Layer } from "effect"
import { TrackingSeal } from "../../src/hits/TrackingLinks.ts"
import { ReturnPaths } from "../../src/mail/ReturnPaths.ts"

/** Creates return paths with a seal under a key of its own. */
export const testReturnPaths = (domain: string, key = "key"): ReturnPaths["Service"] =>
  Effect.runSync(
    ReturnPaths.pipe(
      Effect.provide(ReturnPaths.at(domain)),
      Effect.provide(
        Layer.succeed(TrackingSeal, {
          seal: (bytes) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16),
        }),
      ),
    ),
  )
