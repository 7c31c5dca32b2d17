import { assertKeyOpens } from "@outreach/backoffice/keys/keysAtRest"
import { Deployment } from "@outreach/domain/Deployment"
import { DescribedError } from "@outreach/domain/DescribedError"
import { PrivateAddressesAllowed } from "@outreach/domain/deliveries/Endpoints"
import { adapters } from "@outreach/postgres/adapters"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { describeFault } from "@outreach/postgres/describeFault"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { sessionFault } from "@outreach/postgres-connection/sessionSettings"
import { applicationName } from "@outreach/process/release"
import { Context, Effect, Layer, Schedule } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Target } from "./Target.ts"

class DatabaseUnreachable extends DescribedError(
  "DatabaseUnreachable",
  "No connection to {target}: {advice} ({reason}).",
) {}

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
      Effect.mapError(({ code, advice }) => new DatabaseUnreachable({ target: name, reason: code, advice })),
    )
    return Layer.provideMerge(Layer.effectDiscard(checkConnection), client)
  }),
)

/** The cipher with the target's keys, without a check that they fit the stored data. */
export const uncheckedCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** The cipher with the target's keys. Without a key that fits the stored data, commands fail when they use it. */
const lazyCipher = Layer.catch(
  Layer.tap(uncheckedCipher, (context) => assertKeyOpens(Context.get(context, SecretCipher))),
  (error) => Layer.succeed(SecretCipher, SecretCipher.failing(error)),
)

const settings = Layer.effectContext(
  Effect.map(Target, ({ livemode, allowHttp }) =>
    Context.make(Deployment, { livemode }).pipe(Context.add(PrivateAddressesAllowed, allowHttp)),
  ),
)

/** The services of the target's database with a cipher. */
export const servicesWith = <E, R>(cipher: Layer.Layer<SecretCipher, E, R>) =>
  Layer.provide(adapters, cipher).pipe(
    Layer.provideMerge(settings),
    Layer.provideMerge(client),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
  )

/** The services of all commands. */
export const services = Layer.provideMerge(servicesWith(lazyCipher), Target.layer)
