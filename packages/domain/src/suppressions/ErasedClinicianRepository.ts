import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
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

/** Keeps keyed hashes of erased NPIs and addresses, which suppress in every program of the organization. */
export class ErasedClinicianRepository extends Context.Service<
  ErasedClinicianRepository,
  {
    find(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ErasedClinicians>
    /** Lists the organizations that erased a clinician, and therefore never write to them: of all, or only this one. */
    organizationsOf(clinician: Clinician, organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<OrganizationId>>
    add(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<void>
    /** Computes the hashes of NPIs and addresses in hex, in the order of the clinicians, the NPI first; none while the organization erased nobody. */
    hash(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ReadonlyArray<string>>
  }
>()("domain/suppressions/ErasedClinicianRepository") {}
