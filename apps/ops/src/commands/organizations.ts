import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DisplayName } from "@outreach/domain/DisplayName"
import { MAX_CONTACTS } from "@outreach/domain/organizations/Organization"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { OrganizationRepositoryPg } from "@outreach/postgres/organizations/OrganizationRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { emailAddress, organizationArgument as organizationId } from "../inputs/filters.ts"
import { flag, onlySwitch, several } from "../inputs/Input.ts"
import { refuse } from "../output/Output.ts"

const create = changing({
  about: "Add an organization: a partner's account",
  examples: ['ops organizations create --name "Acme Health"'],
  input: { name: flag(DisplayName, "The partner's name") },
  run: ({ name }) => createOrganization(name),
})

const list = reading({
  about: "List the organizations, oldest first, each with the number of its contacts",
  run: () =>
    OrganizationReader.use(({ list }) =>
      Effect.map(list, (all) => all.map((each) => ({ ...each, contacts: each.contacts.length }))),
    ),
  columns: ["id", "name", "contacts", "createdAt", "clockAheadSeconds"],
})

const update = changing({
  about: "Replace the contacts of an organization, who get an e-mail when one of its endpoints fails",
  examples: [
    "ops organizations update org_… --contact ann@acme.example --contact bob@acme.example",
    "ops organizations update org_… --no-contacts",
  ],
  input: {
    organizationId,
    contact: several(flag(emailAddress, `An address to tell, up to ${MAX_CONTACTS} times`)),
    noContacts: onlySwitch("Remove all contacts"),
  },
  *run({ organizationId, contact, noContacts }) {
    const contacts = [...new Set(contact)]
    if (contacts.length > 0 === noContacts || contacts.length > MAX_CONTACTS) {
      return yield* refuse(
        "UnclearContacts",
        `Give --contact for each address, up to ${MAX_CONTACTS} of them, or --no-contacts.`,
      )
    }
    return yield* OrganizationRepository.use(({ setContacts }) => setContacts(organizationId, contacts))
  },
})

const show = revealing({
  about: "Show an organization and its contacts",
  input: { organizationId },
  run: ({ organizationId }) => OrganizationReader.use(({ find }) => find(organizationId)),
})

export const organizations = group({
  about: "The partners' accounts",
  commands: { create, list, show, update },
  services: Layer.mergeAll(OrganizationRepositoryPg, OrganizationReader.layer),
})
