import { Deployment } from "@outreach/domain/Deployment"
import { CampaignBookPg } from "@outreach/postgres/CampaignBookPg"
import { DeliveryLedgerPg } from "@outreach/postgres/DeliveryLedgerPg"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { EndpointBookPg } from "@outreach/postgres/EndpointBookPg"
import { KeyRingPg } from "@outreach/postgres/KeyRingPg"
import { OrganizationRegistryPg } from "@outreach/postgres/OrganizationRegistryPg"
import { ProgramCatalogPg } from "@outreach/postgres/ProgramCatalogPg"
import { RecipientRegisterPg } from "@outreach/postgres/RecipientRegisterPg"
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Target } from "./Target.ts"

/** The target's database does not let us in. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  target: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `No connection to ${this.target} (${this.reason}). Does it run, and is its address right?`
  }
}

const database = Layer.unwrap(
  Effect.map(Target, ({ databaseUrl, name }) =>
    databaseLayer({ url: databaseUrl, applicationName: "outreach-ops", maxConnections: 2 }).pipe(
      Layer.catch(({ reason }) =>
        Layer.effectContext(Effect.fail(new DatabaseUnreachable({ target: name, reason: reason._tag }))),
      ),
    ),
  ),
)

/** What the commands need, over the target's database; the vault of signing secrets is left to the one command that has its key. */
export const ports = Layer.mergeAll(
  OrganizationRegistryPg,
  KeyRingPg,
  ProgramCatalogPg,
  CampaignBookPg,
  RecipientRegisterPg,
  EndpointBookPg,
  DeliveryLedgerPg,
).pipe(
  Layer.provideMerge(database),
  Layer.provideMerge(
    Layer.effect(
      Deployment,
      Effect.map(Target, ({ livemode }) => ({ livemode })),
    ),
  ),
  Layer.provideMerge(Target.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
)
