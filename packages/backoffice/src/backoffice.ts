import { Layer } from "effect"
import { DeadLetterReader } from "./deliveries/DeadLetterReader.ts"
import { DeliveryOutcomeReader } from "./deliveries/DeliveryOutcomeReader.ts"
import { EventDeliveries } from "./deliveries/EventDeliveries.ts"
import { FailureGroupReader } from "./deliveries/FailureGroupReader.ts"
import { ReplayReader } from "./deliveries/ReplayReader.ts"

/** All services of this package. They need the adapters of `@outreach/postgres` and the database. */
export const backoffice = Layer.mergeAll(
  DeadLetterReader.layer,
  DeliveryOutcomeReader.layer,
  EventDeliveries.layer,
  FailureGroupReader.layer,
  ReplayReader.layer,
)
