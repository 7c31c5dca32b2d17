import { DEFAULT_REPLAYS_PER_SECOND, MAX_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { wholeNumber } from "@outreach/domain/textSchema"
import { formatCount } from "../format.ts"
import { field, withDefault } from "./Field.ts"

/** The rate of a replay. */
export const rate = withDefault(
  field(wholeNumber(1, MAX_REPLAYS_PER_SECOND), "Deliveries per second", {
    inputmode: "numeric",
    size: 6,
    hint: `1 to ${formatCount(MAX_REPLAYS_PER_SECOND)}. Use a low rate if the partner has just recovered`,
  }),
  String(DEFAULT_REPLAYS_PER_SECOND),
)
