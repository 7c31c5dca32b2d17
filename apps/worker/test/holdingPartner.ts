import type { ServerResponse } from "node:http"
import { partner } from "@outreach/testing/partner"
import { until } from "@outreach/testing/until"

/** A partner that responds only when the test allows it. */
export const holdingPartner = async () => {
  const held: ServerResponse[] = []
  const to = await partner((_, response) => held.push(response))
  return {
    to,
    /** Waits until the partner has received this number of webhooks in total. */
    receives: (count: number) => until(to, ({ received }) => received.length >= count && received),
    answer: () => {
      for (const response of held.splice(0)) response.end()
    },
  }
}
