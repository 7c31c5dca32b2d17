import { Deployment } from "@outreach/domain/Deployment"
import { PrivateAddressesAllowed } from "@outreach/domain/deliveries/Endpoints"
import { describeFault } from "@outreach/postgres/describeFault"
import { Hints } from "@outreach/postgres/events/Hints"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { sessionFault } from "@outreach/postgres-connection/sessionFault"
import { applicationName } from "@outreach/process/release"
import { Effect, Layer, Schedule } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { refusal } from "./output/Output.ts"
import { fromTarget, Target } from "./Target.ts"

/** The connections to the target's database. Layers with the same memo map share them, as all command lines of a test file do. */
export const client = Layer.unwrap(
  Effect.map(Target, ({ database, name }) => {
    const client = databaseLayer({ database, applicationName: applicationName("outreach-ops"), maxConnections: 2 })
    // The pool connects at its first statement, which fails only if the connection fails.
    const checkConnection = sessionFault.pipe(
      Effect.mapError(describeFault),
      // No statement has run yet. On a busy machine the first attempt can time out. In five seconds, the heartbeat tries once more.
      Effect.retry({
        schedule: Schedule.spaced("500 millis"),
        times: 10,
        while: ({ code }) => code === "ETIMEDOUT" || code === "ECONNRESET",
      }),
      // Through a known pooler, the role's settings only matter to the serving processes, and commands may correct them.
      Effect.flatMap((fault) => (fault !== undefined && database.pooler === "none" ? Effect.fail(fault) : Effect.void)),
      Effect.mapError(({ code: reason, advice }) => {
        const details = { target: name, reason, advice }
        return refusal("DatabaseUnreachable", `No connection to ${name}: ${advice} (${reason}).`, details)
      }),
    )
    return Layer.provideMerge(Layer.effectDiscard(checkConnection), client)
  }),
)

/** The target's database, and the other services of the commands' ports. */
export const database = Layer.mergeAll(TransactionPg, Hints.layer).pipe(
  Layer.provideMerge(client),
  Layer.provideMerge(fromTarget(Deployment, ({ livemode }) => ({ livemode }))),
  Layer.provideMerge(fromTarget(PrivateAddressesAllowed, ({ allowHttp }) => allowHttp)),
  Layer.provideMerge(Target.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
)
