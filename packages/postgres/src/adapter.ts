import { type Context, Effect, Layer, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { orDieAs } from "./DatabaseFailure.ts"

/** The methods of a service, whose statements may fail in the database. */
export type Failing<Shape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends (...input: infer Input) => Effect.Effect<infer A, infer E>
    ? (...input: Input) => Effect.Effect<A, E | SqlError.SqlError>
    : Shape[Name] extends Effect.Effect<infer A, infer E>
      ? Effect.Effect<A, E | SqlError.SqlError>
      : Shape[Name]
}

/** The same methods, where a failure of the database is a defect. */
export type Dying<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (
    ...input: infer Input
  ) => Effect.Effect<infer A, infer E, infer R>
    ? (...input: Input) => Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
    : Methods[Name] extends Effect.Effect<infer A, infer E, infer R>
      ? Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
      : Methods[Name]
}

/** Turns failures of the database in all methods of a service into defects, which name the service and the method. */
export const dieOnDatabaseFailure = <Methods extends object>(service: string, methods: Methods): Dying<Methods> =>
  Object.fromEntries(
    Object.entries(methods).map(([name, method]) => {
      const orDie = orDieAs(`${service}.${name}`)
      if (Effect.isEffect(method)) return [name, orDie(method)]
      if (typeof method !== "function") return [name, method]
      return [name, (...input: ReadonlyArray<unknown>) => orDie(method(...input))]
    }),
  ) as Dying<Methods>

/**
 * Creates the layer of a port from methods whose statements may fail in the database: given as they are, or by a generator or an effect that needs other
 * services too.
 */
export const adapter = <
  Self,
  Shape extends object,
  Needed extends Effect.Effect<unknown, never, unknown> = never,
  R = SqlClient.SqlClient,
>(
  port: Context.Service<Self, Shape>,
  make:
    | ((sql: SqlClient.SqlClient) => Failing<Shape> | Generator<Needed, Failing<Shape>, never>)
    | Effect.Effect<Failing<Shape>, never, R>,
): Layer.Layer<Self, never, Exclude<Effect.Services<Needed> | R, Scope.Scope>> => {
  const methods = Effect.isEffect(make)
    ? make
    : Effect.flatMap(SqlClient.SqlClient, (sql) => {
        const made = make(sql)
        return Symbol.iterator in made ? Effect.gen(() => made) : Effect.succeed(made)
      })
  const service = port.key.slice(port.key.lastIndexOf("/") + 1)
  return Layer.effect(
    port,
    Effect.map(
      methods as Effect.Effect<Failing<Shape>, never, Effect.Services<Needed> | R>,
      (failing) => dieOnDatabaseFailure(service, failing) as Shape,
    ),
  )
}
