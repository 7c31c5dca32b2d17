import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import type { Operator } from "@outreach/domain/operators/Operator"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { Npi } from "@outreach/domain/recipients/Npi"
import type { Clinician } from "@outreach/domain/suppressions/Clinician"
import { type SuppressionScope, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { suppressByOperator } from "@outreach/domain/suppressions/Withdrawals"
import { Effect } from "effect"
import { formatCount } from "../../components/format.ts"
import { required } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"

const SECTION = "suppressions"

const fields = {
  organization: OrganizationId,
  program: ProgramId,
  npi: Npi,
  email: EmailAddress,
  reason: required(AuditReason),
}

const refuse = (message: string) => Effect.fail(new PageError({ status: 400, title: "Not done", messages: [message] }))

const readScope = (
  {
    program: programId,
    organization,
  }: { readonly program: ProgramId | undefined; readonly organization: OrganizationId | undefined },
  operator: Operator,
): Effect.Effect<SuppressionScope, PageError> => {
  const organizationId = operator.organizationId ?? organization
  if (programId !== undefined) return Effect.succeed({ programId })
  return organizationId === undefined
    ? refuse("Choose a program or an organization.")
    : Effect.succeed({ organizationId })
}

const readClinician = ({
  npi = null,
  email = null,
}: Partial<{ readonly [K in keyof Clinician]: Clinician[K] | undefined }>) =>
  npi === null && email === null ? refuse("Give an NPI, an e-mail address, or both.") : Effect.succeed({ npi, email })

const listOf = (scope: SuppressionScope): string =>
  scope.programId === undefined
    ? `/suppressions?organization=${scope.organizationId}&scope=organization`
    : `/suppressions?program=${scope.programId}`

/** Suppresses a clinician in a program or in a whole organization. */
export const addSuppression = defineAction({
  path: "/suppressions/add",
  section: SECTION,
  role: "operator",
  command: "suppressions add",
  params: {},
  fields,
  run: Effect.fnUntraced(function* (given, { operator }) {
    const scope = yield* readScope(given, operator)
    const clinician = yield* readClinician(given)
    const { added, withdrawn } = yield* suppressByOperator(scope, [clinician])
    return {
      to: listOf(scope),
      notice: `Suppressed: ${formatCount(added)} new entries, ${formatCount(withdrawn)} waiting recipients withdrawn.`,
    }
  }),
})

/** Lifts the suppression of a clinician in a program and its organization, or in the organization alone. */
export const liftSuppression = defineAction({
  path: "/suppressions/lift",
  section: SECTION,
  role: "operator",
  command: "suppressions remove",
  params: {},
  fields,
  run: Effect.fnUntraced(function* (given, { operator }) {
    const scope = yield* readScope(given, operator)
    const keys = suppressionKeys(yield* readClinician(given))
    const removed = yield* (yield* SuppressionRepository).remove(scope, keys)
    return {
      to: listOf(scope),
      notice: `Lifted: ${formatCount(removed)} entries. Who was withdrawn stays so until an import names them again.`,
    }
  }),
})
