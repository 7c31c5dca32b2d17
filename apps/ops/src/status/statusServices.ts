import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { Layer } from "effect"
import { database } from "../database.ts"

/** What the status is read from, on a connection of its own. */
export const statusServices = Layer.mergeAll(
  DatabaseInspection.layer,
  DeliveryGauges.layer,
  EndpointRepositoryPg,
  CampaignRepositoryPg,
).pipe(Layer.provide(database))
