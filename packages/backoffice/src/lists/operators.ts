import { OperatorRepository } from "@outreach/domain/operators/Operators"
import { checkBox, filterBy } from "../operations/Field.ts"
import { count, id, inOps, list, text, time } from "./List.ts"

export const operators = list("operators list", {
  role: "admin",
  about: "List the operators of the console, oldest first, with their open sessions",
  filters: {
    organizationId: filterBy.organization,
    removed: checkBox("Removed", { hint: "Instead of the others" }),
  },
  *read({ organizationId, removed = false }) {
    const all = yield* (yield* OperatorRepository).list
    return all
      .filter(({ removedAt }) => (removedAt !== null) === removed)
      .filter((each) => organizationId === undefined || each.organizationId === organizationId)
  },
  columns: {
    id: inOps,
    name: {
      ...text("Name"),
      of: ({ id }) => id,
      note: ({ removedAt }) => (removedAt === null ? "" : `removed on ${removedAt.slice(0, 10)}`),
    },
    role: text("Role"),
    organizationId: { ...id("Organization"), none: "all" },
    sessions: count("Open sessions"),
    lastUsedAt: time("Last used", "no open session"),
    createdAt: time("Added"),
    removedAt: inOps,
  },
  empty: "No operator matches.",
})
