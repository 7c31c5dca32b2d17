import { Deployment } from "@outreach/domain/Deployment"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { HintsPg } from "@outreach/postgres/events/HintsPg"
import { AuditLog } from "@outreach/postgres/operators/AuditLog"
import { Effect, Layer, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient, type SqlError } from "effect/sql"
import { Target } from "./Target.ts"

/** The connection to the target's database failed. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  target: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `No connection to ${this.target}: ${this.reason}.`
  }
}

const client = Layer.unwrap(
  Effect.map(Target, ({ databaseUrl, name }) => {
    const client = databaseLayer({ url: databaseUrl, applicationName: "outreach-ops", maxConnections: 2 })
    // The pool connects at its first statement. An empty `select` fails only if the connection does.
    const checkConnection = SqlClient.SqlClient.use((sql) => sql`select`).pipe(
      Effect.mapError(({ reason }) => new DatabaseUnreachable({ target: name, reason: explain(reason) })),
    )
    return Layer.provideMerge(Layer.effectDiscard(checkConnection), client)
  }),
)

/** Descriptions of PostgreSQL's connection errors, by SQLSTATE. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  "28000": "it refuses the user",
  "28P01": "it refuses the password",
  "3D000": "there is no database of that name",
}

const explain = ({ _tag, cause }: SqlError.SqlErrorReason): string =>
  CONNECTION_ERRORS[String((cause as { code?: unknown } | undefined)?.code)] ??
  (_tag === "ConnectionError" ? "it does not answer" : _tag)

/** The target's database, and the other services that the ports of the commands need. */
export const database = Layer.merge(HintsPg, AuditLog.layer).pipe(
  Layer.provideMerge(client),
  Layer.provideMerge(
    Layer.effect(
      Deployment,
      Effect.map(Target, ({ livemode }) => ({ livemode })),
    ),
  ),
  Layer.provideMerge(Target.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
)
