import type { NodeServices } from "@effect/platform-node/NodeServices"
import { type Fields, fieldName } from "@outreach/backoffice/operations/Field"
import { isIdentifier } from "@outreach/domain/Identifier"
import { Console, Context, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { audited } from "./audit/audited.ts"
import { exampleOf, paramsOf, type Values, valuesOf } from "./inputs/paramsOf.ts"
import { refuse } from "./output/Output.ts"
import { retryOnce } from "./retryOnce.ts"
import type { services } from "./services.ts"

/** The effect of a command: it shows data, shows personal data, or changes something. */
export class Access extends Context.Service<Access, "reads" | "reveals" | "changes">()("ops/Access") {}

/** The services of all commands. */
export type Services = Layer.Success<typeof services> | NodeServices

export type AnyCommand = Command.Command<string, never, object, unknown, Services>

interface Declaration {
  readonly words: string
  readonly access: Access["Service"]
  readonly about: string
  /** Default: one of its arguments and required flags. */
  readonly examples?: ReadonlyArray<string> | undefined
  /** The range of `from` and `to` must not end before it starts. */
  readonly input: Fields
  /** The inputs of which at least one is required. */
  readonly changes?: ReadonlyArray<string> | undefined
  /** Runs the command and prints its result. */
  readonly run: (input: Values) => Effect.Effect<void, unknown, unknown>
  /** Whether the command may create the audit log, which then records it at its end. */
  readonly createsLog?: boolean
  /** Services that only this command needs. */
  readonly services?: Layer.Layer<never, unknown, unknown>
}

/** Creates a command. The audit log records its start and its result unless it only reads. */
export const createCommand = (declaration: Declaration): AnyCommand => {
  const { access, about, input, changes = [], run, services = Layer.empty, ...options } = declaration
  const words = declaration.words.split(" ")
  const handler = Effect.fn(`ops.${words.join(".")}`)(function* (values: Values) {
    yield* checkRange(values)
    yield* checkChanges(changes, values)
    const once = Effect.scoped(run(values))
    yield* access === "changes" ? once : runAgain(once)
  })
  const recorded = (values: Values) =>
    access === "reads" ? handler(values) : audited(declaration.words, values, handler(values), options)
  const { examples = [exampleOf(words, input)] } = declaration
  return Command.make(words.at(-1)!, paramsOf(input), (parsed) => recorded(valuesOf(parsed))).pipe(
    Command.withDescription(about),
    Command.withExamples(examples.map((command) => ({ command }))),
    Command.annotate(Access, access),
    Command.provide(services),
  ) as AnyCommand
}

/** Runs a read-only command once more after a transient failure of the database, unless it has printed something. */
const runAgain = Effect.fnUntraced(function* <A, E, R>(run: Effect.Effect<A, E, R>) {
  const console = yield* Console.Console
  let hasPrinted = false
  const log: typeof console.log = (...texts) => {
    hasPrinted = true
    console.log(...texts)
  }
  return yield* run.pipe(
    Effect.provideService(Console.Console, { ...console, log }),
    retryOnce(() => !hasPrinted),
  )
})

const checkChanges = (changes: ReadonlyArray<string>, values: Values) => {
  if (changes.length === 0 || changes.some((key) => key in values)) return Effect.void
  const flags = changes.map((key) => `--${fieldName(key)}`)
  return refuse("NothingToUpdate", `Give at least one of ${flags.join(", ")}.`, { flags })
}

/** Fails if an id of a filter without results is unknown, so that a mistyped id doesn't look like an empty result. */
export const checkFilter = Effect.fnUntraced(function* (filter: object) {
  const ids = Object.values(filter).filter((value) => typeof value === "string" && isIdentifier(value)) as Array<string>
  if (ids.length === 0) return
  const { ObjectFinder } = yield* Effect.promise(() => import("@outreach/backoffice/operators/ObjectFinder"))
  const { DeliveryReader } = yield* Effect.promise(() => import("@outreach/backoffice/deliveries/DeliveryReader"))
  const find = ObjectFinder.use(({ find }) => find(ids, null))
  const found = yield* Effect.provide(find, Layer.provide(ObjectFinder.layer, DeliveryReader.layer))
  const unknown = ids.filter((id) => !found.some((each) => each.id === id))
  if (unknown.length > 0)
    return yield* refuse("IdNotFound", `Nothing has the id ${unknown.join(" or ")}.`, { ids: unknown })
})

/** Fails if a command's `from` is after its `to`. Times keep their microseconds, and compare as text. */
const checkRange = ({ from, to }: Values) =>
  typeof from === "string" && typeof to === "string" && from > to
    ? refuse(
        "InvalidRange",
        `--to is before --from: a range from ${from} to ${to} holds nothing. Swap the two, or correct one.`,
        { from, to },
      )
    : Effect.void
