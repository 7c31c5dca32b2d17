import { nameIn } from "@outreach/backoffice/format"
import { createCampaign } from "@outreach/backoffice/operations/campaigns"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramId } from "@outreach/domain/Identifier"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/TemplateText"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const path = "/campaigns/new"

export const newCampaignPage = definePage(path, {
  role: createCampaign.role,
  inputs: { program: ProgramId },
  run: Effect.fnUntraced(function* ({ program: programId }, { operator }) {
    const organizations = yield* (yield* OrganizationReader).list
    const programs = yield* (yield* ProgramRepository).list(operator.organizationId ?? undefined)
    const open = programs.filter(({ status }) => status !== "archived")
    return (
      <Page
        title="Create a campaign"
        commands={[
          ops("campaigns create", {
            program: programId ?? "pgm_…",
            name: "…",
            subject: "…",
            html: "mail.html",
            "window-start": "…",
            "window-end": "…",
          }),
        ]}
      >
        <p>A new campaign is a draft. Import its recipients, preview the e-mail, then schedule it.</p>
        <ActionForm
          action={createAction}
          isPrimary
          controls={{
            program: {
              options: open.map(({ id, name, organizationId }) => [
                id,
                `${nameIn(organizations, organizationId)}: ${name}`,
              ]),
              value: programId,
            },
            layout: { value: "plain" },
          }}
        />
      </Page>
    )
  }),
})

// A character can take three bytes in a form, and there are two parts.
const createAction = operationAction(path, createCampaign, { maxBytes: 6 * MAX_TEMPLATE_BYTES })

export const newCampaignRoutes = [newCampaignPage, createAction] as const
