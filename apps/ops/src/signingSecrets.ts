import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SigningSecretRepositoryPg } from "@outreach/postgres/deliveries/SigningSecretRepositoryPg"
import { Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher with the target's keys. Only commands that need the keys provide it. */
export const secretCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)

/** The target's signing secrets with their texts. */
export const signingSecrets = Layer.provide(SigningSecretRepositoryPg, secretCipher)

/** The target's signing secrets without their texts, which need no key. */
export const secretSummaries = Layer.provide(
  SigningSecretRepositoryPg,
  Layer.succeed(SecretCipher, SecretCipher.withoutKey),
)
