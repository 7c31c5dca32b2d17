import type { Attempt } from "@outreach/domain/deliveries/Delivery"

/** Describes the response of an attempt without its text: an erased response is null, one that never had a text is empty. */
export const describeEmptyResponse = ({ status, response }: Pick<Attempt, "status" | "response">): string => {
  if (status === null) return "none"
  return response === null ? "erased" : "no text"
}
