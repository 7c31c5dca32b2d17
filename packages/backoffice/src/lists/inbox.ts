import { Schema } from "effect"
import { field } from "../operations/Field.ts"
import { organizationFilter, timeRange } from "../operations/fields.ts"

export const inboxFilters = {
  organizationId: organizationFilter,
  type: field(Schema.String, "Type", { kind: "choice", all: "All" }),
  reason: field(Schema.String, "Reason", { size: 30, hint: "Of quarantined events, as shown in the list" }),
  ...timeRange("Received from", "Received before"),
}
