import type { DeadLetterCount } from "@outreach/postgres/deliveries/DeliveryRepository"
import { formatRows, print } from "../output/Output.ts"

/** Prints the number of dead letters in a sentence, and a table of the numbers by endpoint and reason. */
export const printDeadLetterCounts = (
  byEndpointAndReason: ReadonlyArray<DeadLetterCount>,
  sentence: (count: number) => string,
) => {
  const count = byEndpointAndReason.reduce((sum, { count }) => sum + count, 0)
  return print({ count, byEndpointAndReason }, () =>
    count === 0
      ? sentence(count)
      : `${sentence(count)}\n\n${formatRows(byEndpointAndReason, ["endpointId", "reason", "count"])}`,
  )
}
