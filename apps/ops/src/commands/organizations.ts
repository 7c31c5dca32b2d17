import { createOrganization, updateOrganization } from "@outreach/backoffice/operations/organizations"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationRepositoryPg } from "@outreach/postgres/organizations/OrganizationRepositoryPg"
import { Effect, Layer } from "effect"
import { operatorOrUser } from "../audit/audited.ts"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { organizationArgument as organizationId } from "../inputs/filters.ts"
import { onlySwitch, several } from "../inputs/Input.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { refuse } from "../output/Output.ts"

const list = reading({
  about: "List the organizations, oldest first, each with the number of its contacts",
  run: () =>
    OrganizationReader.use(({ list }) =>
      Effect.map(list, (all) => all.map((each) => ({ ...each, contacts: each.contacts.length }))),
    ),
  columns: ["id", "name", "contacts", "createdAt", "clockAheadSeconds"],
})

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
  commands: { create: command(createOrganization), list, show, update },
  services: Layer.mergeAll(OrganizationRepositoryPg, OrganizationReader.layer),
})
