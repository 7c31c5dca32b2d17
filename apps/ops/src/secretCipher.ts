import { assertKeyOpens } from "@outreach/backoffice/keys/keysAtRest"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SigningSecretRepositoryPg } from "@outreach/postgres/deliveries/SigningSecretRepositoryPg"
import { LinkDomainRepositoryPg } from "@outreach/postgres/senders/LinkDomainRepositoryPg"
import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
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

/** The target's signing secrets with their texts. */
export const signingSecrets = Layer.provide(SigningSecretRepositoryPg, secretCipher)

/** The same. Without a key, commands fail as soon as they make a secret. */
export const lazySigningSecrets = Layer.provide(SigningSecretRepositoryPg, lazyCipher)

/** The target's signing secrets without their texts, which need no key. */
export const secretSummaries = Layer.provide(
  SigningSecretRepositoryPg,
  Layer.succeed(SecretCipher, SecretCipher.withoutKey),
)

/** The target's senders and their link domains. Only what encrypts or reads their keys needs `SECRETS_KEY`. */
export const senderRepository = Layer.provide(Layer.merge(SenderRepositoryPg, LinkDomainRepositoryPg), lazyCipher)

/** The target's erased clinicians. Without a key, commands fail for organizations that erased somebody, and for those alone. */
export const erasedClinicians = Layer.provide(ErasedClinicianRepositoryPg, lazyCipher)
