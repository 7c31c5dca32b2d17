import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Clinician } from "../recipients/Clinician.ts"

export interface ErasedClinicians {
  /** Pseudonym of each erased NPI, under which its qualifications are counted. */
  readonly npis: ReadonlyMap<string, string>
  /** Erased addresses in lower case. */
  readonly emails: ReadonlySet<string>
}

export const isErased = ({ npis, emails }: ErasedClinicians, { npi, email }: Clinician): boolean =>
  (npi !== null && npis.has(npi)) || (email !== null && emails.has(email.toLowerCase()))

/** Removes erased NPIs and addresses, and clinicians without any other. An erased NPI also removes its address. */
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

/** Stores keyed hashes of erased NPIs and addresses, which suppress in all programs of the organization. */
export class ErasedClinicianRepository extends Context.Service<
  ErasedClinicianRepository,
  {
    find(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ErasedClinicians>
    /** Lists the organizations (all, or only this one) that erased a clinician and therefore never contact them. */
    organizationsOf(clinician: Clinician, organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<OrganizationId>>
    add(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<void>
    /** Computes the hex hashes of NPIs and addresses, in clinician order, NPI first; empty if the organization has erased no one. */
    hash(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ReadonlyArray<string>>
  }
>()("domain/suppressions/ErasedClinicianRepository") {}
