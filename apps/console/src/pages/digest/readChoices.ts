import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { ProgramNotFound, ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect } from "effect"

/** What may be chosen, and what is: the first program of the first organization if nothing else is asked for. */
export const readChoices = Effect.fnUntraced(function* (
  operator: Operator,
  asked: { readonly organization: OrganizationId | undefined; readonly program: ProgramId | undefined },
) {
  const programs = yield* ProgramRepository
  const organizations = yield* (yield* OrganizationRepository).list
  const named = asked.program === undefined ? undefined : yield* programs.find(asked.program)
  const organizationId = operator.organizationId ?? asked.organization ?? named?.organizationId ?? organizations[0]?.id
  if (organizationId === undefined) return { organizations, programs: [], organizationId, program: undefined }
  if (named !== undefined && named.organizationId !== organizationId) {
    return yield* new ProgramNotFound({ programId: named.id })
  }
  const ofOrganization = yield* programs.list(organizationId)
  const program = named ?? ofOrganization.find(({ status }) => status === "active") ?? ofOrganization[0]
  return { organizations, programs: ofOrganization, organizationId, program }
})
