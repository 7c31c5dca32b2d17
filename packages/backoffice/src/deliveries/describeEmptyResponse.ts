import type { Attempt } from "@outreach/domain/deliveries/Delivery"

/** Describes an attempt's response without text: null was erased, an empty text never had one. */
export const describeEmptyResponse = ({ status, response }: Pick<Attempt, "status" | "response">): string => {
  if (status === null) return "none"
  return response === null ? "erased" : "no text"
}
