import { Deployment } from "@outreach/domain/Deployment"
import { CampaignBookPg } from "@outreach/postgres/CampaignBookPg"
import { DeliveryLedgerPg } from "@outreach/postgres/DeliveryLedgerPg"
import { DigestLedgerPg } from "@outreach/postgres/DigestLedgerPg"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { EndpointBookPg } from "@outreach/postgres/EndpointBookPg"
import { InboxLedgerPg } from "@outreach/postgres/InboxLedgerPg"
import { KeyRingPg } from "@outreach/postgres/KeyRingPg"
import { OrganizationRegistryPg } from "@outreach/postgres/OrganizationRegistryPg"
import { ProgramCatalogPg } from "@outreach/postgres/ProgramCatalogPg"
import { RecipientRegisterPg } from "@outreach/postgres/RecipientRegisterPg"
import { ReplayBookPg } from "@outreach/postgres/ReplayBookPg"
import { SecretLedgerPg } from "@outreach/postgres/SecretLedgerPg"
import { SuppressionSetPg } from "@outreach/postgres/SuppressionSetPg"
import { TimelineReaderPg } from "@outreach/postgres/TimelineReaderPg"
import { Effect, Layer, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient, type SqlError } from "effect/sql"
import { Target } from "./Target.ts"

/** The target's database does not let us in. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  target: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `No connection to ${this.target}: ${this.reason}.`
  }
}

const database = Layer.unwrap(
  Effect.map(Target, ({ databaseUrl, name }) => {
    const client = databaseLayer({ url: databaseUrl, applicationName: "outreach-ops", maxConnections: 2 })
    // The pool connects at its first statement; one that cannot fail otherwise tells a missing database from a failed command.
    const answers = SqlClient.SqlClient.use((sql) => sql`select`).pipe(
      Effect.mapError(({ reason }) => new DatabaseUnreachable({ target: name, reason: explain(reason) })),
    )
    return Layer.provideMerge(Layer.effectDiscard(answers), client)
  }),
)

/** The answers of PostgreSQL to a connection that it refuses, by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "28000": "it refuses the user",
  "28P01": "it refuses the password",
  "3D000": "there is no database of that name",
}

const explain = ({ _tag, cause }: SqlError.SqlErrorReason): string =>
  REFUSALS[String((cause as { code?: unknown } | undefined)?.code)] ??
  (_tag === "ConnectionError" ? "it does not answer" : _tag)

/** What the commands need, over the target's database; the vault of signing secrets is left to the one command that has its key. */
export const ports = Layer.mergeAll(
  OrganizationRegistryPg,
  KeyRingPg,
  ProgramCatalogPg,
  CampaignBookPg,
  RecipientRegisterPg,
  EndpointBookPg,
  DeliveryLedgerPg,
  ReplayBookPg,
  DigestLedgerPg,
  SecretLedgerPg,
  InboxLedgerPg,
  SuppressionSetPg,
  TimelineReaderPg,
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
