import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Clinician } from "./Clinician.ts"
import type { ErasedClinicians } from "./ErasedClinicians.ts"

/** Keeps keyed hashes of erased NPIs and addresses, which suppress in every program of the organization. */
export class ErasedClinicianRepository extends Context.Service<
  ErasedClinicianRepository,
  {
    find(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ErasedClinicians>
    add(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<void>
    /** Computes the hashes of NPIs and addresses in hex, in the order of the clinicians, the NPI first; none while the organization erased nobody. */
    hash(organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>): Effect.Effect<ReadonlyArray<string>>
  }
>()("domain/suppressions/ErasedClinicianRepository") {}
