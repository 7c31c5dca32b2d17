import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId } from "@outreach/domain/Identifier"
import { ProgramSlug } from "@outreach/domain/programs/Program"
import { createProgram } from "@outreach/domain/programs/Programs"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { field, required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { programDetails, programInputs } from "./programInputs.ts"

const path = "/programs/new"
const role = "operator"

export const newProgramPage = definePage(path, {
  role,
  inputs: { organization: OrganizationId },
  run: Effect.fnUntraced(function* ({ organization }) {
    return (
      <Page
        title="Add a program"
        commands={[ops("programs create", { organization: organization ?? "org_…", slug: "…", name: "…" })]}
      >
        <ActionForm
          action={addProgram}
          label="Add the program"
          isPrimary
          controls={{ organization: { options: yield* (yield* OrganizationReader).list, value: organization } }}
        />
      </Page>
    )
  }),
})

const { name, ...others } = programInputs

const addProgram = defineAction(path, "programs create", {
  role,
  inputs: {
    organization: required(field(OrganizationId, "Organization", { kind: "choice" })),
    name: required(name),
    slug: required(
      field(ProgramSlug, "Slug", {
        hint: "Identifier for the partner, such as heart-failure; can't be changed later",
        size: 32,
      }),
    ),
    ...others,
  },
  faults: { ProgramSlugTaken: "slug", OrganizationNotFound: "organization" },
  run: Effect.fnUntraced(function* ({ organization, slug, name, ...given }) {
    const { id } = yield* createProgram({ organizationId: organization, slug, ...programDetails(given), name })
    return { to: `/programs/${id}`, notice: "Added. Create a campaign to send e-mails." }
  }),
})

export const newProgramRoutes = [newProgramPage, addProgram] as const
