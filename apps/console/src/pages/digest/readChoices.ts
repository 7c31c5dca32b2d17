import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound, ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect } from "effect"

/** Reads what may be chosen and what is chosen: by default the first program of the first organization. */
export const readChoices = Effect.fnUntraced(function* (asked: {
  readonly organization: OrganizationId | undefined
  readonly program: ProgramId | undefined
}) {
  const programs = yield* ProgramRepository
  const organizations = yield* (yield* OrganizationRepository).list
  const named = asked.program === undefined ? undefined : yield* programs.find(asked.program)
  const organizationId = asked.organization ?? named?.organizationId ?? organizations[0]?.id
  if (organizationId === undefined) return { organizations, programs: [], organizationId, program: undefined }
  if (named !== undefined && named.organizationId !== organizationId) {
    return yield* new ProgramNotFound({ programId: named.id })
  }
  const ofOrganization = yield* programs.list(organizationId)
  const program = named ?? ofOrganization.find(({ status }) => status === "active") ?? ofOrganization[0]
  return { organizations, programs: ofOrganization, organizationId, program }
})
