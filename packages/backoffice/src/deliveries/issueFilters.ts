import { checkBox, choice, endpointFilter, httpStatus, organizationFilter } from "../operations/Field.ts"

export const issueFilters = {
  organizationId: organizationFilter,
  endpointId: endpointFilter,
  status: httpStatus,
  state: choice(
    "State",
    [
      ["lasting", "Failing now"],
      ["dead", "With dead letters"],
      ["muted", "Muted"],
      ["ended", "Ended"],
    ],
    { all: "Open", hint: "Failing now, with dead letters to replay, muted, or ended without dead letters" },
  ),
  largest: checkBox("Largest first", { hint: "On one page" }),
}
