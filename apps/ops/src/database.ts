import { Deployment } from "@outreach/domain/Deployment"
import { poolerRefusal, sessionFault } from "@outreach/postgres/connection/sessionFault"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { HintsPg } from "@outreach/postgres/events/HintsPg"
import { AuditLog } from "@outreach/postgres/operators/AuditLog"
import { Effect, Layer, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type { SqlError } from "effect/sql"
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
  Effect.map(Target, ({ database, name }) => {
    const client = databaseLayer({ database, applicationName: "outreach-ops", maxConnections: 2 })
    // The pool connects at its first statement, which fails only if the connection does.
    const checkConnection = sessionFault.pipe(
      Effect.mapError(({ reason }) => explain(reason)),
      // Through a pooler that is known, the role's settings matter to the processes that serve, and commands may well mend them.
      Effect.flatMap((fault) => (fault !== undefined && database.pooler === "none" ? Effect.fail(fault) : Effect.void)),
      Effect.mapError((reason) => new DatabaseUnreachable({ target: name, reason })),
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
  poolerRefusal(cause) ??
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
