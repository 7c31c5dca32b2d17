import { assertKeyOpens } from "@outreach/backoffice/keys/keysAtRest"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { Context, Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher with the target's keys, without a check that they fit the stored data. */
export const uncheckedCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** A cipher that fails when it is used. */
const failing = (error: unknown) => {
  const fail = (): never => {
    throw error
  }
  return Layer.succeed(SecretCipher, { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail })
}

/** The cipher with the target's keys. Without a key that fits the stored data, commands fail when they use it. */
export const lazyCipher = Layer.catch(
  Layer.tap(uncheckedCipher, (context) => assertKeyOpens(Context.get(context, SecretCipher))),
  failing,
)

/** The target's senders. Only encrypting or reading their keys needs `SECRETS_KEY`. */
export const senderRepository = Layer.provide(SenderRepositoryPg, lazyCipher)
