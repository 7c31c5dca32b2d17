import { DisplayName } from "@outreach/domain/DisplayName"
import { OrganizationId } from "@outreach/domain/Identifier"
import { MAX_CONTACTS } from "@outreach/domain/organizations/Organization"
import * as Organizations from "@outreach/domain/organizations/Organizations"
import { parseInput } from "@outreach/domain/parseInput"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { noneOr, textSchema } from "@outreach/domain/textSchema"
import { Result } from "effect"
import { field, required } from "./Field.ts"
import { operation } from "./Operation.ts"

export const createOrganization = operation("organizations create", {
  role: "admin",
  about: "Add an organization: a partner's account",
  label: "Add the organization",
  input: { name: required(field(DisplayName, "Name", { example: "Acme Health", size: 40 })) },
  run: ({ name }) => Organizations.createOrganization(name),
  done: () => "Added. Issue a key and a secret, then add a program and an endpoint.",
})

const Addresses = textSchema("e-mail addresses, separated by commas, or none", (text) => {
  const parsed = text.split(",").map((each) => parseInput(EmailAddress)(each.trim()))
  return parsed.every(Result.isSuccess) ? parsed.map(({ success }) => success) : undefined
})

export const updateOrganization = operation("organizations update", {
  role: "admin",
  about: "Replace the contacts of an organization, who get an e-mail when one of its endpoints fails",
  label: "Replace the contacts",
  of: { organizationId: OrganizationId },
  input: {
    contact: required(
      field(noneOr(Addresses), "Contacts", {
        hint: `Up to ${MAX_CONTACTS} addresses, separated by commas, replacing the current ones; or none`,
        size: 48,
      }),
    ),
  },
  faults: { TooManyContacts: "contact" },
  run: ({ organizationId, contact }) => Organizations.setContacts(organizationId, contact ?? []),
  done: ({ contacts }) =>
    contacts.length === 0 ? "Contacts removed. No one is notified when an endpoint fails." : "Contacts replaced.",
  examples: [
    "ops organizations update org_… --contact ann@acme.example --contact bob@acme.example",
    "ops organizations update org_… --no-contacts",
  ],
})
