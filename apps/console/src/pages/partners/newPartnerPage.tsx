import { field, required } from "@outreach/backoffice/operations/Field"
import { DisplayName } from "@outreach/domain/DisplayName"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { defineAction, definePage } from "../../http/Route.ts"

const path = "/partners/new"
const role = "admin"

export const newPartnerPage = definePage(path, {
  role,
  run: () =>
    Effect.succeed(
      <Page title="Add an organization" commands={[ops("organizations create", { name: "Acme Health" })]}>
        <p>An organization is a partner’s account, with keys, endpoints, secrets and programs.</p>
        <ActionForm action={addOrganization} label="Add the organization" isPrimary />
      </Page>,
    ),
})

const addOrganization = defineAction(path, "organizations create", {
  role,
  inputs: { name: required(field(DisplayName, "Name", { size: 40 })) },
  run: Effect.fnUntraced(function* ({ name }) {
    const { id } = yield* createOrganization(name)
    return { to: `/partners/${id}`, notice: "Added. Issue a key and a secret, then add a program and an endpoint." }
  }),
})

export const newPartnerRoutes = [newPartnerPage, addOrganization] as const
