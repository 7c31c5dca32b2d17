import { assertKeyOpens } from "@outreach/backoffice/keys/keysAtRest"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SigningSecretRepositoryPg } from "@outreach/postgres/deliveries/SigningSecretRepositoryPg"
import { LinkDomainRepositoryPg } from "@outreach/postgres/senders/LinkDomainRepositoryPg"
import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { Context, Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher with the target's keys, without a check that they fit the stored data. */
export const uncheckedCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** The cipher with the target's keys, checked against the stored data. Only commands that need the keys provide it. */
export const secretCipher = Layer.tap(uncheckedCipher, (context) => assertKeyOpens(Context.get(context, SecretCipher)))

/** A cipher that fails when it is used. */
const failing = (error: unknown) => {
  const fail = (): never => {
    throw error
  }
  return Layer.succeed(SecretCipher, { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail })
}

/** The target's cipher. Without a fitting key, commands fail when they use it. */
export const lazyCipher = Layer.catch(secretCipher, failing)

/** The target's signing secrets with their texts. */
export const signingSecrets = Layer.provide(SigningSecretRepositoryPg, secretCipher)

/** The same. Without a key, commands fail when they create a secret. */
export const lazySigningSecrets = Layer.provide(SigningSecretRepositoryPg, lazyCipher)

/** The target's signing secrets without their texts, which need no key. */
export const secretSummaries = Layer.provide(
  SigningSecretRepositoryPg,
  Layer.succeed(SecretCipher, SecretCipher.withoutKey),
)

/** The target's senders and their link domains. Only encrypting or reading their keys needs `SECRETS_KEY`. */
export const senderRepository = Layer.provide(Layer.merge(SenderRepositoryPg, LinkDomainRepositoryPg), lazyCipher)

/** The target's erased clinicians. Without a key, commands fail only for organizations with erased clinicians. */
export const erasedClinicians = Layer.provide(ErasedClinicianRepositoryPg, lazyCipher)
