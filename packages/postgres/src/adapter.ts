import { Context, Effect, Layer, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { orDieAs } from "./DatabaseFailure.ts"

/** The methods of a service that may fail with a database error. */
export type Failing<Shape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends (...input: infer Input) => Effect.Effect<infer A, infer E>
    ? (...input: Input) => Effect.Effect<A, E | SqlError.SqlError>
    : Shape[Name] extends Effect.Effect<infer A, infer E>
      ? Effect.Effect<A, E | SqlError.SqlError>
      : Shape[Name]
}

/** The same methods, with database errors as defects. */
export type Dying<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (
    ...input: infer Input
  ) => Effect.Effect<infer A, infer E, infer R>
    ? (...input: Input) => Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
    : Methods[Name] extends Effect.Effect<infer A, infer E, infer R>
      ? Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
      : Methods[Name]
}

/** Turns database errors in all methods of a service into defects that name the service and the method. */
const dieOnDatabaseFailure = <Methods extends object>(service: string, methods: Methods): Dying<Methods> =>
  Object.fromEntries(
    Object.entries(methods).map(([name, method]) => {
      const orDie = orDieAs(`${service}.${name}`)
      if (Effect.isEffect(method)) return [name, orDie(method)]
      if (typeof method !== "function") return [name, method]
      return [name, (...input: ReadonlyArray<unknown>) => orDie(method(...input))]
    }),
  ) as Dying<Methods>

type Needs = Effect.Effect<unknown, never, unknown>

/** Methods, or a generator that returns them and needs more services. */
type Creation<Methods, Needed extends Needs> = (sql: SqlClient.SqlClient) => Methods | Generator<Needed, Methods, never>

/** Creates the methods of a service, with database errors as defects. */
const methodsOf = <Methods extends object, Needed extends Needs>(
  key: string,
  create: Creation<Methods, Needed>,
): Effect.Effect<Dying<Methods>, never, SqlClient.SqlClient | Effect.Services<Needed>> =>
  Effect.gen(function* () {
    const created = create(yield* SqlClient.SqlClient)
    const methods = Symbol.iterator in created ? yield* Effect.gen(() => created) : created
    return dieOnDatabaseFailure(key.slice(key.lastIndexOf("/") + 1), methods)
  }) as Effect.Effect<Dying<Methods>, never, SqlClient.SqlClient | Effect.Services<Needed>>

/** Creates the layer of a port from methods that may fail with a database error. */
export const adapter = <Self, Shape extends object, Needed extends Needs = never>(
  port: Context.Service<Self, Shape>,
  create: Creation<Failing<Shape>, Needed>,
): Layer.Layer<Self, never, Exclude<SqlClient.SqlClient | Effect.Services<Needed>, Scope.Scope>> =>
  Layer.effect(
    port,
    Effect.map(methodsOf(port.key, create), (methods) => methods as Shape),
  )

/**
 * Creates an effect that returns queries on the current database. They have database errors as defects. Unlike a service, it has no layer.
 *
 * @example
 * export const ProgramReader = reader("ProgramReader", (sql) => ({
 *   names: sql`select name from programs`.pipe(decodeNames),
 * }))
 */
export const reader = <Methods extends object, Needed extends Needs = never>(
  name: string,
  create: Creation<Methods, Needed>,
) => {
  const methods = methodsOf(name, create)
  const use = <A, E, R>(query: (methods: Dying<Methods>) => Effect.Effect<A, E, R>) => Effect.flatMap(methods, query)
  return Object.assign(methods, { use })
}

/** Creates a service and its layer from methods that may fail with a database error. */
export const DatabaseService =
  <Self>() =>
  <const Id extends string, Methods extends object, Needed extends Needs = never>(
    id: Id,
    create: Creation<Methods, Needed>,
  ) => {
    const make = methodsOf(id, create)
    const service = Context.Service<Self>()(id, { make })
    return Object.assign(service, { layer: Layer.effect(service, make) })
  }
