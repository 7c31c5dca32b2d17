import { eraseClinician, exportClinician } from "@outreach/backoffice/operations/clinicians"
import { createSuppression, removeSuppression } from "@outreach/backoffice/operations/suppressions"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineAction } from "../../http/Route.ts"

const options = { omit: ["organizationId", "npi", "email"], requires: ["reason"] } as const
export const suppressPerson = operationAction("/people/:id/suppress", createSuppression, options)
export const liftPerson = operationAction("/people/:id/lift", removeSuppression, options)

export const exportPerson = defineAction("/people/:id/export", exportClinician.command, {
  role: exportClinician.role,
  isRepeatable: true,
  run: ({ id }) =>
    Effect.map(exportClinician.run({ id }, ""), (data) =>
      HttpServerResponse.text(`${JSON.stringify(data, null, 2)}\n`, {
        contentType: "application/json",
        headers: { "content-disposition": `attachment; filename="clinician-${id}.json"`, "cache-control": "no-store" },
      }),
    ),
})

export const erasePerson = operationConfirmation("/people/:id/erase", eraseClinician, {
  omit: ["organizationId", "npi", "email"],
})

export const personActions = [suppressPerson, liftPerson, exportPerson, ...erasePerson] as const
