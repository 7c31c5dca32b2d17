import { createOrganization } from "@outreach/backoffice/operations/organizations"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const path = "/partners/new"

export const newPartnerPage = definePage(path, {
  role: createOrganization.role,
  run: () =>
    Effect.succeed(
      <Page title="Add an organization" commands={[ops("organizations create", { name: "Acme Health" })]}>
        <p>An organization is a partner’s account, with keys, endpoints, secrets and programs.</p>
        <ActionForm action={addOrganization} isPrimary />
      </Page>,
    ),
})

const addOrganization = operationAction(path, createOrganization)

export const newPartnerRoutes = [newPartnerPage, addOrganization] as const
