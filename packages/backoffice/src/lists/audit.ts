import { textSchema } from "@outreach/domain/textSchema"
import { Schema } from "effect"
import { choice, field } from "../operations/Field.ts"
import { organizationFilter, timeRange } from "../operations/fields.ts"
import { AUDIT_RESULTS } from "../operators/AuditLog.ts"

const ObjectId = textSchema("an id, such as cmp_…", (text) => (/^[a-z]{3}_[0-9a-f]+$/.test(text) ? text : undefined))

export const auditFilters = {
  organizationId: organizationFilter,
  objectId: field(ObjectId, "Id", { size: 40, hint: "Any id in a command's arguments", example: "cmp_…" }),
  command: field(Schema.String, "Command", {
    placeholder: "campaigns pause",
    hint: "A command or its first word",
    example: "campaigns",
  }),
  operator: field(Schema.String, "Operator", { hint: "A name, a system user or a database role" }),
  result: choice("Result", AUDIT_RESULTS, { all: "All" }),
  ...timeRange("From", "Before"),
}
