import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { Layer } from "effect"
import { secretCipher } from "./signingSecrets.ts"

/** A cipher that fails with an error as soon as it is needed. */
const failing = (error: unknown) => {
  const fail = (): never => {
    throw error
  }
  return Layer.succeed(SecretCipher, { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail })
}

/** The target's cipher. Without a key, commands fail as soon as they need it. */
export const lazyCipher = Layer.catch(secretCipher, failing)

/** The target's erased clinicians. Without a key, commands fail for organizations that erased somebody, and for those alone. */
export const erasedClinicians = Layer.provide(ErasedClinicianRepositoryPg, lazyCipher)
