import { Schema } from "effect"
import { EmailAddress } from "../recipients/EmailAddress.ts"
import { Npi } from "../recipients/Npi.ts"

/** A clinician with an NPI, an e-mail address (case-insensitive), or both. */
export const Clinician = Schema.Struct({ npi: Schema.NullOr(Npi), email: Schema.NullOr(EmailAddress) }).check(
  Schema.makeFilter(
    ({ npi, email }) => npi !== null || email !== null || "neither an NPI nor an e-mail address is given",
  ),
)
export type Clinician = typeof Clinician.Type
