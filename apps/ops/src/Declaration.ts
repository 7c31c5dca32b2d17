import type { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { isIdentifier } from "@outreach/domain/Identifier"
import { Console, Context, Effect, Layer, type Scope } from "effect"
import { Command } from "effect/cli"
import { audited, nameOf } from "./audit/audited.ts"
import { exampleOf, type Inputs, type Params, type Parsed, toParams, type Values, valuesOf } from "./inputs/Input.ts"
import { formatRecord, print, printToStderr, refuse } from "./output/Output.ts"
import { retryOnce } from "./retryOnce.ts"

/** The effect of a command: it shows data, shows personal data, or changes something. */
export class Access extends Context.Service<Access, "reads" | "reveals" | "changes">()("ops/Access") {}

/** A command or group that needs the services `R`, without its name. */
export type Declared<R> = (words: ReadonlyArray<string>) => Command.Command<string, never, object, unknown, R>

interface Declaration<I, Run, Provided, Needed> {
  /** The description in the help. */
  readonly about: string
  /**
   * The flags and arguments. Of a group `changes`, at least one input is required.
   *
   * The range of `from` and `to` must not end before it starts.
   */
  readonly input?: I
  /** Default: one of its arguments and required flags, which are ids. */
  readonly examples?: ReadonlyArray<string>
  /**
   * Runs the command, and imports rarely used modules: loading takes nearly all the time of a short command. Its result is printed,
   * unless it prints for itself.
   */
  readonly run: (input: Values<I>) => Run
  /**
   * Formats the result for people, as text or paragraphs; default: a line for each field. Only a function that is
   * written here gets the result's type.
   */
  readonly format?: (result: ResultOf<Run>) => string | ReadonlyArray<string>
  /** Adds information about the result on standard error. */
  readonly note?: (result: ResultOf<Run>, input: Values<I>) => string | undefined
  /** Services that only this command of its group needs. */
  readonly services?: Layer.Layer<Provided, unknown, Needed>
}

// biome-ignore lint/suspicious/noConfusingVoidType: an effect that prints for itself has this type.
type Result = void | (object & { readonly length?: never })

type Runnable<A> = Effect.Effect<A, unknown, unknown> | Generator<Effect.Effect<unknown, unknown, unknown>, A, never>

/** The result of the effect or steps, unless they print it themselves. */
type ResultOf<Run> = Exclude<
  Run extends Effect.Effect<infer A, unknown, unknown> ? A : Run extends Generator<unknown, infer A, never> ? A : never,
  void
>

type NeedsOf<Run> =
  Run extends Effect.Effect<unknown, unknown, infer R>
    ? R
    : Run extends Generator<infer Step, unknown, never>
      ? Step extends Effect.Effect<unknown, unknown, infer R>
        ? R
        : never
      : never

type AnyDeclaration = Declaration<Inputs, Runnable<unknown>, never, unknown>

/** A command with needs that only its declaration's type knows. */
type Built = ReturnType<Declared<never>>

const NONE: Layer.Layer<never, unknown, unknown> = Layer.empty

const declare =
  <Log = never>(access: Access["Service"], options: { readonly createsLog?: boolean } = {}) =>
  <const I extends Inputs, Run extends Runnable<Result>, Provided = never, Needed = never>(
    declaration: Declaration<I, Run, Provided, Needed>,
  ): Declared<Exclude<NeedsOf<Run>, Provided | Scope.Scope> | Needed | Log> =>
  (words) => {
    const { about, input = {}, run, services = NONE, ...output } = declaration as unknown as AnyDeclaration
    const examples = declaration.examples ?? [exampleOf(words, input)]
    const params = toParams(input)
    const handler = Effect.fn(`ops.${words.join(".")}`)(function* (parsed: Parsed) {
      const values = valuesOf(params, parsed)
      yield* checkRange(values)
      yield* checkChanges(params, values)
      const once = Effect.scoped(
        Effect.gen(function* () {
          return yield* run(values as Values<Inputs>)
        }),
      )
      yield* printResult(yield* access === "changes" ? once : runAgain(once), values, output)
    })
    const recorded = access === "reads" ? handler : audited(words.join(" "), params, handler, options)
    return Command.make(words.at(-1)!, params, recorded).pipe(
      Command.withDescription(about),
      Command.withExamples(examples.map((command) => ({ command }))),
      Command.annotate(Access, access),
      Command.provide(services),
    ) as Built
  }

/** Declares a command that shows data without personal data. The audit log doesn't record it. */
export const reading = declare("reads")

/** Declares a command that shows personal data or searches by it. The audit log records its start and its result. */
export const revealing = declare<AuditLog>("reveals")

/** Declares a command that changes something. The audit log records its start and its result. */
export const changing = declare<AuditLog>("changes")

/** Declares a command that may create the audit log, which then records it at its end. */
export const creatingLog = declare<AuditLog>("changes", { createsLog: true })

export const group =
  <Commands extends Readonly<Record<string, Declared<unknown>>>, Provided = never, Needed = never>(declaration: {
    readonly about: string
    readonly commands: Commands
    /** Services that the commands share. */
    readonly services?: Layer.Layer<Provided, unknown, Needed>
  }): Declared<Exclude<NeedsOfDeclared<Commands[keyof Commands]>, Provided> | Needed> =>
  (words) => {
    const { about, commands, services = NONE } = declaration
    return Command.make(words.at(-1)!).pipe(
      Command.withDescription(about),
      Command.withSubcommands(Object.entries(commands).map(([word, command]) => command([...words, word]))),
      Command.provide(services),
    ) as Built
  }

type NeedsOfDeclared<D> = D extends Declared<infer R> ? R : never

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

const checkChanges = ({ changes: params }: Params, { changes }: Parsed) => {
  if (params === undefined || Object.keys(changes as Parsed).length > 0) return Effect.void
  const flags = Object.values(params).map((param) => `--${nameOf(param)}`)
  return refuse("NothingToUpdate", `Give at least one of ${flags.join(", ")}.`, { flags })
}

/** Fails if an id of a filter without results is unknown, so that a mistyped id doesn't look like an empty result. */
export const checkFilter = Effect.fnUntraced(function* (filter: Parsed) {
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

const printResult = Effect.fnUntraced(function* (
  result: unknown,
  input: Parsed,
  { format, note }: Pick<AnyDeclaration, "format" | "note">,
) {
  if (typeof result !== "object" || result === null) return
  yield* print(result, () => [format?.(result as never) ?? formatRecord(result)].flat().join("\n\n"))
  const more = note?.(result as never, input as never)
  if (more !== undefined) yield* printToStderr(more)
})

/** Fails if a command's `from` is after its `to`. Times keep their microseconds, and compare as text. */
const checkRange = ({ from, to }: Parsed) =>
  typeof from === "string" && typeof to === "string" && from > to
    ? refuse(
        "InvalidRange",
        `--to is before --from: a range from ${from} to ${to} holds nothing. Swap the two, or correct one.`,
        { from, to },
      )
    : Effect.void
