import { Email } from "@outreach/contract"
import { checkNpi } from "../recipients/checkNpi.ts"
import type { Clinician } from "./Suppression.ts"

/** Returns why a clinician cannot be suppressed, or undefined. */
export const checkClinician = ({ npi, email }: Clinician): string | undefined => {
  if (npi === null && email === null) return "neither an NPI nor an e-mail address is given"
  const wrong = npi === null ? undefined : checkNpi(npi)
  if (wrong !== undefined) return wrong
  return email === null || Email.safeParse(email).success ? undefined : "the e-mail address is not valid"
}
