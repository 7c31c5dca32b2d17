import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { Layer } from "effect"
import { lazyCipher } from "./secretCipher.ts"

/** The target's erased clinicians. Without a key, commands fail for organizations that erased somebody, and for those alone. */
export const erasedClinicians = Layer.provide(ErasedClinicianRepositoryPg, lazyCipher)
