import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Effect, Layer } from "effect"
import { Target } from "./Target.ts"

/** The cipher of the target's signing secrets. Only commands that need its key provide it. */
export const secretCipher = Layer.effect(
  SecretCipher,
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, SecretCipher.make)),
)
