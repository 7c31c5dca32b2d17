import { assertKeyOpens } from "@outreach/backoffice/keys/assertKeyOpens"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Context, Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher with the target's keys, whatever they open. */
export const uncheckedCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** The cipher with the target's keys, which open what is stored. Only commands that need the keys provide it. */
export const secretCipher = Layer.tap(uncheckedCipher, (context) => assertKeyOpens(Context.get(context, SecretCipher)))

/** A cipher that fails with an error as soon as it is needed. */
const failing = (error: unknown) => {
  const fail = (): never => {
    throw error
  }
  return Layer.succeed(SecretCipher, { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail })
}

/** The target's cipher. Without a key that opens what is stored, commands fail as soon as they need it. */
export const lazyCipher = Layer.catch(secretCipher, failing)
