import type { ServerResponse } from "node:http"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"

/** A partner that answers only when the test says so. */
export const holdingPartner = async () => {
  const held: ServerResponse[] = []
  const to = await partner((_, response) => held.push(response))
  return {
    to,
    /** Waits until the partner has received a number of webhooks in all. */
    receives: (count: number) =>
      eventually(
        () => to.received,
        ({ length }) => length >= count,
      ),
    answer: () => {
      for (const response of held.splice(0)) response.end()
    },
  }
}
