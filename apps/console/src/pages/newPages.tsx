import { nameIn } from "@outreach/backoffice/format"
import { createCampaign } from "@outreach/backoffice/operations/campaigns"
import { examplesOf, type Fields, fieldName } from "@outreach/backoffice/operations/Field"
import type { Operation } from "@outreach/backoffice/operations/Operation"
import { createOrganization } from "@outreach/backoffice/operations/organizations"
import { createProgram } from "@outreach/backoffice/operations/programs"
import { createSender } from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/templates/TemplateText"
import type { Program } from "@outreach/domain/programs/Program"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect, Record } from "effect"
import { ActionForm, type Controls } from "../components/forms.tsx"
import { Page } from "../components/layout.tsx"
import { operationAction } from "../http/operationRoutes.tsx"
import { definePage, type KnownPath, type None, type Route } from "../http/Route.ts"

/** Declares the page with the form of an operation that creates an object. The query selects its organization and program. */
const newPage = <const P extends `/${string}`, F extends Fields, A extends object, R>(
  path: KnownPath<P>,
  operation: Operation<None, F, never, A, R>,
  options: {
    readonly title: string
    readonly about?: string
    readonly omit?: ReadonlyArray<keyof F & string>
    readonly maxBytes?: number
    readonly controls?: Controls
    /** Selects the offered programs. Default: all. */
    readonly isOffered?: (program: Program) => boolean
  },
) => {
  const { title, about, controls, isOffered = () => true } = options
  const examples = Record.mapKeys(examplesOf(operation.input), fieldName)
  const action = operationAction(path, operation, options)
  const page = definePage(path, {
    role: operation.role,
    inputs: { organization: OrganizationId, program: ProgramId },
    run: Effect.fnUntraced(function* ({ organization, program }, { operator }) {
      const organizations = yield* (yield* OrganizationReader).list
      const programs = yield* (yield* ProgramRepository).list(organization ?? operator.organizationId ?? undefined)
      const owner = organization ?? programs.find(({ id }) => id === program)?.organizationId
      const given: Readonly<Record<string, string | undefined>> = { organization: owner, program }
      const flags = Record.map(examples, (text, name) => given[name] ?? text)
      return (
        <Page title={title} commands={[[operation.command, flags]]}>
          {about !== undefined && <p>{about}</p>}
          <ActionForm
            action={action as Route<unknown, string>}
            label={operation.label}
            isPrimary
            controls={{
              organization: { options: organizations, value: owner },
              program: {
                options: programs
                  .filter(isOffered)
                  .map(({ id, name, organizationId }) => [id, `${nameIn(organizations, organizationId)}: ${name}`]),
                value: program,
              },
              ...controls,
            }}
          />
        </Page>
      )
    }),
  })
  return [{ ...page, label: title }, action] as const
}

const partner = newPage("/partners/new", createOrganization, {
  title: "Add an organization",
  about: "An organization is a partner’s account, with keys, endpoints, secrets and programs.",
})

const program = newPage("/programs/new", createProgram, { title: "Add a program" })

const sender = newPage("/senders/new", createSender, {
  title: "Add a sender",
  about: "A DKIM key is created with the sender. Publish the DNS records on its page and verify it before it is used.",
  omit: ["dkimKey"],
})

const campaign = newPage("/campaigns/new", createCampaign, {
  title: "Create a campaign",
  about: "A new campaign is a draft. Import its recipients, preview the e-mail, then schedule it.",
  // A character can take three bytes in a form, and there are two parts.
  maxBytes: 6 * MAX_TEMPLATE_BYTES,
  controls: { layout: { value: "plain" } },
  isOffered: ({ status }) => status !== "archived",
})

export const [newPartnerPage] = partner
export const [newProgramPage] = program
export const [newSenderPage] = sender
export const [newCampaignPage] = campaign
export const newRoutes = [...partner, ...program, ...sender, ...campaign] as const
