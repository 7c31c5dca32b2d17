import { UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"

/**
 * Returns the SQL of the number of attempts that count for the retry schedule, from attempts as JSON. An attempt with an unknown outcome
 * is repeated under the same number, so it doesn't count.
 */
export const attemptsMade = (attempts: string): string =>
  `jsonb_array_length(jsonb_path_query_array(${attempts}, '$[*] ? (@.outcome <> "${UNKNOWN_OUTCOME}")'))`
