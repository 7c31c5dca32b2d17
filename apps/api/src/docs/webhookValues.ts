import { RECIPIENTS_PER_EVENT } from "@outreach/contract"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { MAX_EVENT_BYTES } from "@outreach/domain/events/Event"
import { SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { KEY_POLICY } from "../http/ResponseContext.ts"
import { eventCatalogue } from "./eventCatalogue.ts"
import type { Html } from "./html.ts"
import { table } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"
import { verifierErrors } from "./verifierErrors.ts"

const LIMIT = openapi.paths["/v1/partners/consumer/tokens"].get.parameters.find(({ name }) => name === "limit")!
  .schema as { readonly minimum: number; readonly maximum: number; readonly default: number }

/** The attempts of a delivery and the waits between them. */
const deliverySchedule = (): Html =>
  table(
    "Attempts of a delivery",
    ["attempt", "after the one before", "since the first"],
    [
      ["1", "at once", "0"],
      ...SPECIFIED_SCHEDULE.map((delay, i) => [
        `${i + 2}`,
        duration(delay),
        duration(SPECIFIED_SCHEDULE.slice(0, i + 1).reduce((sum, one) => sum + one)),
      ]),
    ],
  )

const UNITS = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const

const duration = (seconds: number): string => {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size)!
  const count = Math.round((seconds / length) * 10) / 10
  return `${count * length === seconds ? "" : "about "}${count} ${unit}${count === 1 ? "" : "s"}`
}

/** The values of the page of webhooks, and the limits that a partner meets. */
export const webhookValues: GuideValues = {
  deliverySchedule: deliverySchedule(),
  verifierErrors,
  eventsToYou: eventCatalogue("to_consumer"),
  eventsToUs: eventCatalogue("to_service"),
  requestsPerMinute: KEY_POLICY.limit,
  pageSize: `${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default}`,
  attempts: SPECIFIED_SCHEDULE.length + 1,
  recipientsPerEvent: RECIPIENTS_PER_EVENT,
  maxEventKib: MAX_EVENT_BYTES / 1024,
}
