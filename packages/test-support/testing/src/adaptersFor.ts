import { Deployment, PreflightSettings } from "@outreach/domain/Deployment"
import { adapters } from "@outreach/postgres/adapters"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { singleKey } from "@outreach/process/keyRing"
import { Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/** The key that tests encrypt signing secrets with. */
export const SECRETS_KEY = Buffer.alloc(32, 7)

export const SECRETS_RING = singleKey(Redacted.make(SECRETS_KEY))

/** All adapters on one database, composed as in an app. */
export const adaptersFor = (url: string, options: { readonly maxConnections?: number } = {}) =>
  adapters.pipe(
    Layer.provideMerge(testDatabaseLayer(url, options)),
    Layer.provideMerge(
      Layer.mergeAll(
        SecureRandom.layerWebCrypto,
        Layer.succeed(Deployment, { livemode: false }),
        Layer.succeed(PreflightSettings, { signsMail: null, publicBaseUrl: null }),
        Layer.succeed(SecretCipher, SecretCipher.make(SECRETS_RING)),
      ),
    ),
  )

/** Connects to a database with long time limits, because a test's machine may be busy. */
export const testDatabaseLayer = (url: string, options: { readonly maxConnections?: number } = {}) =>
  databaseLayer({ database: databaseAt(url), applicationName: "test", connectTimeout: "2 minutes", ...options })
