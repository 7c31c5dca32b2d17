import { formatCount } from "@outreach/backoffice/format"
import { field, required } from "@outreach/backoffice/operations/Field"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { Npi } from "@outreach/domain/recipients/Npi"
import type { Clinician } from "@outreach/domain/suppressions/Clinician"
import { type SuppressionScope, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { Effect } from "effect"
import type { InputsOf } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"

export const reason = required(
  field(AuditReason, "Reason", { maxLength: 200, size: 42, hint: "For the audit log; don't enter addresses or NPIs." }),
)

const inputs = {
  organization: OrganizationId,
  program: field(ProgramId, "Scope", { kind: "choice", all: "The whole organization" }),
  npi: field(Npi, "NPI", { inputmode: "numeric", maxLength: 10, size: 12 }),
  email: field(EmailAddress, "E-mail address", { inputmode: "email", maxLength: 320, size: 30 }),
  reason,
}

export const suppress = Effect.fnUntraced(function* (scope: SuppressionScope, clinician: ReadonlyArray<Clinician>) {
  const { added, withdrawn } = yield* suppressClinicians(scope, clinician, "operator")
  return `Suppressed: ${formatCount(added)} new entries, ${formatCount(withdrawn)} pending recipients withdrawn.`
})

export const lift = Effect.fnUntraced(function* (scope: SuppressionScope, clinician: ReadonlyArray<Clinician>) {
  const removed = yield* (yield* SuppressionRepository).remove(scope, clinician.flatMap(suppressionKeys))
  return `Lifted: ${formatCount(removed)} entries. Withdrawn recipients stay withdrawn until they are imported again.`
})

const changeBy = (change: typeof suppress | typeof lift) =>
  Effect.fnUntraced(function* (given: InputsOf<typeof inputs>) {
    const { scope, list } = yield* readScope(given)
    return { to: list, notice: yield* change(scope, [yield* readClinician(given)]) }
  })

export const addSuppression = defineAction("/suppressions/add", "suppressions create", {
  role: "operator",
  inputs,
  run: changeBy(suppress),
})

export const liftSuppression = defineAction("/suppressions/lift", "suppressions remove", {
  role: "operator",
  inputs,
  run: changeBy(lift),
})

const reject = (message: string) => Effect.fail(PageError.of(400, "Action failed", message))

/** Reads the scope of a suppression and the URL of its list. */
const readScope = ({ program: programId, organization: organizationId }: InputsOf<typeof inputs>) => {
  if (programId !== undefined)
    return Effect.succeed({ scope: { programId }, list: `/suppressions?program=${programId}` })
  return organizationId === undefined
    ? reject("Choose a program or an organization.")
    : Effect.succeed({
        scope: { organizationId },
        list: `/suppressions?organization=${organizationId}&scope=organization`,
      })
}

const readClinician = ({ npi, email }: InputsOf<typeof inputs>) =>
  npi === undefined && email === undefined
    ? reject("Enter an NPI, an e-mail address, or both.")
    : Effect.succeed({ npi: npi ?? null, email: email ?? null })

export const suppressionActions = [addSuppression, liftSuppression] as const
