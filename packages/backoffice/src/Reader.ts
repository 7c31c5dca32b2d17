import { dieOnDatabaseFailure } from "@outreach/postgres/adapter"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Creates a service from its questions to the database, with a layer that needs the database alone. A failure of the database is a defect that names
 * the service and the question.
 *
 * @example
 * export class ProgramReader extends Reader<ProgramReader>()("backoffice/programs/ProgramReader", (sql) => ({
 *   names: sql`select name from programs`.pipe(decodeNames),
 * })) {}
 */
export const Reader =
  <Self>() =>
  <const Id extends string, Questions extends object>(id: Id, ask: (sql: SqlClient.SqlClient) => Questions) => {
    const make = Effect.map(SqlClient.SqlClient, (sql) =>
      dieOnDatabaseFailure(id.slice(id.lastIndexOf("/") + 1), ask(sql)),
    )
    const service = Context.Service<Self>()(id, { make })
    return Object.assign(service, { layer: Layer.effect(service, make) })
  }
