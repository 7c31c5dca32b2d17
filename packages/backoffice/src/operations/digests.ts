import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { Effect } from "effect"
import { field, organizationId, required } from "./Field.ts"
import { operation } from "./Operation.ts"

export const showDigest = operation("digests show", {
  access: "reads",
  about: "Show each program's funnel, outreach counts and quotas of a date",
  input: { date: required(field(CalendarDate, "The date in UTC", { isArgument: true })), organizationId },
  run: ({ organizationId, date }) =>
    Effect.map(
      DigestRepository.use(({ read }) => read(organizationId, date)),
      (data) => ({ date, data }),
    ),
  examples: ["ops digests show 2026-11-20 --organization org_…"],
})
