import { DescribedError } from "@outreach/domain/DescribedError"
import { OrganizationId } from "@outreach/domain/Identifier"
import { MAX_CONTACTS, MAX_ENDPOINTS } from "@outreach/domain/organizations/Organization"
import * as Organizations from "@outreach/domain/organizations/Organizations"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { DisplayName, wholeNumber } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { formatCounted } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { checkBox, field, filterBy, repeated, required, yesOrNo } from "./Field.ts"
import { count, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const organizations = list("organizations list", {
  about: "List the organizations, oldest first, each with the number of its contacts",
  filters: { organizationId: filterBy.organization },
  *read({ organizationId }) {
    const all = yield* (yield* OrganizationReader).list
    const meant = all.filter(({ id }) => organizationId === undefined || id === organizationId)
    return meant.map((each) => ({ ...each, contacts: each.contacts.length }))
  },
  columns: {
    ...inOps("id"),
    name: { ...text("Partner"), sort: "asc", of: ({ id }) => id },
    endpoints: { ...count("Endpoints"), isOfConsole: true },
    contacts: count("Contacts"),
    createdAt: { ...time("Since"), sort: "desc" },
    ...inOps("clockAheadSeconds", "selfService", "maxEndpoints"),
  },
  empty: "No partners.",
  filledBy: "organizations create",
})

const of = { organizationId: OrganizationId }

export const createOrganization = operation("organizations create", {
  about: "Add an organization: a partner's account",
  label: "Add the organization",
  input: { name: required(field(DisplayName, "Name", { example: "Acme Health", size: 40 })) },
  run: ({ name }) => Organizations.createOrganization(name),
  done: () => "Added. Issue a key and a secret, then add a program and an endpoint.",
})

export const showOrganization = operation("organizations show", {
  access: "reveals",
  about: "Show an organization and its contacts",
  of,
  run: ({ organizationId }) => OrganizationReader.use(({ find }) => find(organizationId)),
})

class UnclearContacts extends DescribedError(
  "UnclearContacts",
  "Name the contacts, or remove all of them, but not both.",
) {}

export const updateOrganization = operation("organizations update", {
  forPartners: true,
  about: "Replace the contacts of an organization, who get an e-mail when one of its endpoints fails",
  label: "Replace the contacts",
  of,
  input: {
    contact: repeated(
      field(EmailAddress, "Contacts", {
        hint: `Up to ${MAX_CONTACTS} addresses, separated by commas, replacing the current ones`,
        size: 48,
      }),
    ),
    noContacts: checkBox("Remove all contacts"),
  },
  faults: { TooManyContacts: "contact", UnclearContacts: "contact" },
  run: ({ organizationId, contact = [], noContacts = false }) =>
    contact.length > 0 === noContacts
      ? Effect.fail(new UnclearContacts())
      : Organizations.setContacts(organizationId, contact),
  done: ({ contacts }) =>
    contacts.length === 0 ? "Contacts removed. No one is notified when an endpoint fails." : "Contacts replaced.",
  examples: ["ops organizations update org_… --contact ann@acme.example --contact bob@acme.example"],
})

export const limitOrganization = operation("organizations limit", {
  about:
    "Turn self-service on or off, with which a partner's admins manage endpoints, contacts, keys and secrets; and limit the number of endpoints",
  label: "Change",
  of,
  input: {
    selfService: yesOrNo("Self-service", "on", "off", {
      hint: "While it is off, the partner's admins only see, retry and replay",
    }),
    maxEndpoints: field(wholeNumber(0, MAX_ENDPOINTS), "Maximum endpoints", {
      inputmode: "numeric",
      size: 6,
      hint: "Existing endpoints above the limit remain",
    }),
  },
  isPartial: true,
  find: ({ organizationId }) => OrganizationReader.use(({ find }) => find(organizationId)),
  texts: ({ selfService, maxEndpoints }) => ({
    selfService: selfService ? "yes" : "no",
    maxEndpoints: String(maxEndpoints),
  }),
  run: ({ organizationId, ...limits }) =>
    OrganizationRepository.use(({ setLimits }) => setLimits(organizationId, limits)),
  done: ({ selfService, maxEndpoints }) =>
    `Self-service is ${selfService ? "on" : "off"}, with at most ${formatCounted(maxEndpoints, "endpoint")}.`,
  examples: ["ops organizations limit org_… --no-self-service --max-endpoints 5"],
})
