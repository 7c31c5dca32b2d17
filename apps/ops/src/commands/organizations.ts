import { organizations as organizationList } from "@outreach/backoffice/lists/organizations"
import { createOrganization, updateOrganization } from "@outreach/backoffice/operations/organizations"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepositoryPg } from "@outreach/postgres/organizations/OrganizationRepositoryPg"
import { Layer } from "effect"
import { operatorOrUser } from "../audit/audited.ts"
import { changing, group, revealing } from "../Declaration.ts"
import { onlySwitch, several } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument, inputsOf } from "../operationCommand.ts"
import { refuse } from "../output/Output.ts"

const organizationId = idArgument("organizationId", OrganizationId)

const update = changing({
  ...updateOrganization,
  input: {
    organizationId,
    contact: several(inputsOf(updateOrganization.input).contact),
    noContacts: onlySwitch("Remove all contacts"),
  },
  *run({ organizationId, contact: given, noContacts }) {
    const contact = given.flatMap((each) => each ?? [])
    if (contact.length > 0 === noContacts) {
      return yield* refuse("UnclearContacts", "Give --contact for each address, or --no-contacts.")
    }
    return yield* updateOrganization.run({ organizationId, contact }, yield* operatorOrUser)
  },
})

const show = revealing({
  about: "Show an organization and its contacts",
  input: { organizationId },
  run: ({ organizationId }) => OrganizationReader.use(({ find }) => find(organizationId)),
})

export const organizations = group({
  about: "The partners' accounts",
  commands: { create: command(createOrganization), list: listCommand(organizationList), show, update },
  services: Layer.mergeAll(OrganizationRepositoryPg, OrganizationReader.layer),
})
