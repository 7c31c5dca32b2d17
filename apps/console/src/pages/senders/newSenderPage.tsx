import { nameIn } from "@outreach/backoffice/format"
import { createSender } from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const path = "/senders/new"

export const newSenderPage = definePage(path, {
  role: createSender.role,
  inputs: { organization: OrganizationId, program: ProgramId },
  run: Effect.fnUntraced(function* ({ organization, program }) {
    const organizations = yield* (yield* OrganizationReader).list
    const programs = yield* (yield* ProgramRepository).list(organization)
    const given = programs.find(({ id }) => id === program)
    return (
      <Page
        title="Add a sender"
        commands={[
          ops("senders create", { organization: organization ?? "org_…", from: "Acme Health <outreach@acme.example>" }),
        ]}
      >
        <p>
          A DKIM key is created with the sender. Publish the DNS records on its page and verify it before it is used.
        </p>
        <ActionForm
          action={addSenderAction}
          isPrimary
          controls={{
            organization: { options: organizations, value: organization ?? given?.organizationId },
            program: {
              options: programs.map(({ id, name, organizationId }) => [
                id,
                `${nameIn(organizations, organizationId)}: ${name}`,
              ]),
              value: program,
            },
          }}
        />
      </Page>
    )
  }),
})

const addSenderAction = operationAction(path, createSender, { omit: ["dkimKey"] })

export const newSenderRoutes = [newSenderPage, addSenderAction] as const
