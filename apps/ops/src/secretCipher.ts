import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher with the target's keys. Only commands that need the keys provide it. */
export const secretCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** A cipher that fails with an error as soon as it is needed. */
const failing = (error: unknown) => {
  const fail = (): never => {
    throw error
  }
  return Layer.succeed(SecretCipher, { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail })
}

/** The target's cipher. Without a key, commands fail as soon as they need it. */
export const lazyCipher = Layer.catch(secretCipher, failing)
