import { filterBy } from "../operations/Field.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { count, inOps, list, text, time } from "./List.ts"

export const organizations = list("organizations list", {
  about: "List the organizations, oldest first, each with the number of its contacts",
  filters: { organizationId: filterBy.organization },
  *read({ organizationId }) {
    const all = yield* (yield* OrganizationReader).list
    const meant = all.filter(({ id }) => organizationId === undefined || id === organizationId)
    return meant.map((each) => ({ ...each, contacts: each.contacts.length }))
  },
  columns: {
    id: inOps,
    name: { ...text("Partner"), of: ({ id }) => id },
    endpoints: { ...count("Endpoints"), isOfConsole: true },
    contacts: count("Contacts"),
    createdAt: time("Since"),
    clockAheadSeconds: inOps,
  },
  empty: "No partners. Add an organization.",
})
