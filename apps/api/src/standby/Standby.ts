import type { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import type { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import type { EventFeed } from "@outreach/postgres/events/EventFeed"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

type Ports = RecipientRepository | EventFeed | CampaignRepository | DigestRepository

/** The connections to the standby, and the handlers' ports over them. */
export class Standby extends Context.Service<Standby>()("api/standby/Standby", {
  make: Effect.all({ sql: SqlClient.SqlClient, ports: Effect.context<Ports>() }),
}) {
  static readonly layer = Layer.effect(Standby, Standby.make)
}
