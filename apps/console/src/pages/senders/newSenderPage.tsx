import { nameIn } from "@outreach/backoffice/format"
import { field, required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DomainName } from "@outreach/domain/DomainName"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { addSender } from "@outreach/domain/senders/Senders"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { pickDefined } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { SenderLookUps } from "./SenderLookUps.ts"
import { selectorInput, senderFaults, senderInputs } from "./senderInputs.ts"

const path = "/senders/new"
const role = "admin"

export const newSenderPage = definePage(path, {
  role,
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
          label="Add the sender"
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

const { from, ...others } = senderInputs

const addSenderAction = defineAction(path, "senders create", {
  role,
  inputs: {
    organization: required(field(OrganizationId, "Organization", { kind: "choice" })),
    program: field(ProgramId, "Program", { kind: "choice", all: "All without a sender" }),
    from: required(from),
    ...others,
    "dkim-domain": field(DomainName, "DKIM domain", { hint: "Signing domain; empty: the domain of the From address" }),
    ...selectorInput,
  },
  faults: { ...senderFaults, SenderExists: "program", ProgramNotFound: "program" },
  run: Effect.fnUntraced(function* ({ organization, program, selector, from, ramp, ...given }) {
    const { linkHost } = yield* SenderLookUps
    const request = {
      programId: program,
      dkimDomain: given["dkim-domain"],
      replyTo: given["reply-to"],
      bounceDomain: given["bounce-domain"],
      linkDomain: given["link-domain"],
      ramp,
    }
    const { id } = yield* addSender(
      { organizationId: organization, from, ...pickDefined(request) },
      { ...(yield* generateDkimKeyPair), selector },
      linkHost,
    )
    return {
      to: `/senders/${id}`,
      notice: "Added. Publish its DNS records, then verify it. It isn't used before.",
    }
  }),
})

export const newSenderRoutes = [newSenderPage, addSenderAction] as const
