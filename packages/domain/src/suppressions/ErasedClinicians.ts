import type { Clinician } from "./Clinician.ts"

export interface ErasedClinicians {
  /** The pseudonym of each erased NPI, under which its qualifications stay counted. */
  readonly npis: ReadonlyMap<string, string>
  /** The erased addresses, in lower case. */
  readonly emails: ReadonlySet<string>
}

export const isErased = ({ npis, emails }: ErasedClinicians, { npi, email }: Clinician): boolean =>
  (npi !== null && npis.has(npi)) || (email !== null && emails.has(email.toLowerCase()))

/** Leaves out erased NPIs and addresses, and clinicians without any other. An erased NPI takes its address along. */
export const withoutErased = <Each extends Clinician>(
  { npis, emails }: ErasedClinicians,
  clinicians: ReadonlyArray<Each>,
): ReadonlyArray<Each> =>
  clinicians.flatMap((clinician) => {
    const { npi, email } = clinician
    if (npi !== null && npis.has(npi)) return []
    if (email === null || !emails.has(email.toLowerCase())) return [clinician]
    return npi === null ? [] : [{ ...clinician, email: null }]
  })
