import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SigningSecretRepositoryPg } from "@outreach/postgres/deliveries/SigningSecretRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Layer } from "effect"
import { secretCipher } from "./secretCipher.ts"

/** The target's signing secrets with their texts. */
export const signingSecrets = Layer.merge(Layer.provide(SigningSecretRepositoryPg, secretCipher), TransactionPg)

/** The target's signing secrets without their texts, which need no key. */
export const secretSummaries = Layer.provide(
  SigningSecretRepositoryPg,
  Layer.succeed(SecretCipher, SecretCipher.withoutKey),
)
