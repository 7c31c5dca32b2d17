import { createProgram } from "@outreach/backoffice/operations/programs"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const path = "/programs/new"

export const newProgramPage = definePage(path, {
  role: createProgram.role,
  inputs: { organization: OrganizationId },
  run: Effect.fnUntraced(function* ({ organization }) {
    return (
      <Page
        title="Add a program"
        commands={[ops("programs create", { organization: organization ?? "org_…", slug: "…", name: "…" })]}
      >
        <ActionForm
          action={addProgram}
          isPrimary
          controls={{ organization: { options: yield* (yield* OrganizationReader).list, value: organization } }}
        />
      </Page>
    )
  }),
})

const addProgram = operationAction(path, createProgram)

export const newProgramRoutes = [newProgramPage, addProgram] as const
