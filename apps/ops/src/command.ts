import {
  type AnyField,
  checkBox,
  type Fields,
  field,
  fieldName,
  prefixOf,
  required,
} from "@outreach/backoffice/operations/Field"
import type { Fact, InputOf, Operation, Plan, Subject, TaggedFailure } from "@outreach/backoffice/operations/Operation"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/templates/TemplateText"
import { expectedBy, parseInput } from "@outreach/domain/parseInput"
import { Effect, FileSystem, type Layer, Record, type Schema } from "effect"
import { operatorOrUser } from "./audit/audited.ts"
import { type AnyCommand, checkFilter, createCommand, type Services } from "./createCommand.ts"
import { lowerFirst, type Values } from "./inputs/paramsOf.ts"
import { confirm, formatCell, formatRecord, print, printToStderr, refusal, showingProgress } from "./output/Output.ts"

interface Options<A, P> {
  /** Formats the result for people, as text or paragraphs. Default: a line for each field. */
  readonly format?: (result: A) => string | ReadonlyArray<string>
  readonly createsLog?: boolean
  /** Services that only this command needs. */
  readonly services?: Layer.Layer<P, unknown, Services>
}

const dryRun = checkBox("Only count what would be affected")
const detach = checkBox("Don't wait for the workers to finish")
const quiet = checkBox("Hide the progress")
const yes = checkBox("Skip the confirmation; required without a terminal, and with --output json or csv")

/** The values of the command line's own flags, and of a field for the number of objects that the operation may affect. */
interface Given extends Values {
  readonly dryRun?: boolean
  readonly detach?: boolean
  readonly quiet?: boolean
  readonly yes?: boolean
  readonly confirm?: number
}

/** Declares the command of an operation. Its object is an argument, and its fields are flags. A result that is no object isn't printed. */
export const command = <S extends Subject, F extends Fields, Found, A, P = never>(
  operation: Operation<S, F, Found, A, Services | P>,
  options: Options<A, P> = {},
): AnyCommand => {
  const { access = "changes", about, examples, of, input, plan, preview, shownOnce, done } = operation
  const { isPartial, isIrreversible, isReplay, isLong } = operation
  const { format, services, ...others } = options
  return createCommand({
    words: operation.command,
    access,
    about: isIrreversible ? `${about}. Requires confirmation or --yes` : about,
    examples,
    input: {
      ...Record.map(of, subjectField),
      ...input,
      ...(preview && { dryRun }),
      ...(isReplay && { detach }),
      ...(isLong && { quiet }),
      ...(isIrreversible && { yes }),
    },
    changes: isPartial && Object.keys(input),
    run: Effect.fnUntraced(function* ({ dryRun, detach = false, quiet, yes, ...values }: Given) {
      const given = (yield* readTexts(input, values)) as InputOf<S, F>
      if (dryRun && preview !== undefined) {
        const { data, text } = yield* preview(given)
        if (data.count === 0) yield* checkFilter(given)
        return yield* print(data, () => text)
      }
      const planned = isIrreversible && plan !== undefined ? yield* plan(given) : undefined
      const confirmed = planned === undefined ? {} : yield* confirmPlan(planned, { yes, confirm: values.confirm })
      const run = operation.run({ ...given, ...confirmed }, yield* operatorOrUser)
      const result = yield* showingProgress(quiet)(run)
      if (typeof result !== "object" || result === null) return
      if (isReplay && "total" in result) {
        if (result.total === 0) yield* checkFilter(given)
        const { printWhenEnded } = yield* Effect.promise(() => import("./deadLetters/followReplay.ts"))
        return yield* printWhenEnded(result as never, { detach, started: done(result, given) })
      }
      yield* print(result, () => [format?.(result) ?? formatRecord(result)].flat().join("\n\n"))
      const notes = [done(result, given), shownOnce?.(result) && "This is shown only once. Save it now."]
      const note = notes.filter(Boolean).join("\n")
      if (note !== "") yield* printToStderr(`\n${note}`)
    }),
    ...(services && { services: services as Layer.Layer<never, unknown, unknown> }),
    ...others,
  })
}

/** Returns an operation that runs differently on the command line, and prints its result without a sentence. */
export const withRun = <S, F, Found, A, B, R, R2>(
  operation: Operation<S, F, Found, A, R>,
  run: (input: InputOf<S, F>, operator: string) => Effect.Effect<B, TaggedFailure, R2>,
): Operation<S, F, Found, B, R | R2> => ({ ...operation, run, done: () => "" }) as never

/** Returns the argument for an object by its id. */
const subjectField = <A>(schema: Schema.Codec<A, string>, key: string) => {
  const [prefix, expected] = [prefixOf(schema), expectedBy(schema)]
  const id = expected.replace("the id", "Id").replace(/:.*/, "")
  const label = prefix === undefined ? `The ${fieldName(key).replaceAll("-", " ")}: ${expected}` : id
  return required(field(schema, label, { isArgument: true }))
}

/** Prompts to confirm a plan, unless it needs no confirmation. Returns the confirmed values. */
const confirmPlan = (
  plan: Plan,
  { yes = false, confirm: count }: { readonly yes: boolean | undefined; readonly confirm: number | undefined },
) => {
  const { caution, values = {} } = plan
  return confirm(describePlan(plan), {
    yes: yes || count !== undefined || caution === undefined,
    ...(plan.count !== undefined && { count: plan.count }),
    ...("confirm" in values && { flags: `--confirm ${plan.count}, or --yes for however many,` }),
  }).pipe(Effect.as(yes || count !== undefined ? {} : values))
}

/** Describes what an operation would do, after a verb. */
const describePlan = ({ title, many, affects, facts = {}, when, caution }: Plan): string =>
  [
    `${lowerFirst(title)}: ${many} of ${[affects.name, affects.id].filter(Boolean).join(", ")}.`,
    ...Object.entries(facts).map(([label, fact]) => `${label}: ${textOf(fact)}.`),
    when,
    caution?.because,
  ]
    .filter((text) => text !== undefined)
    .join(" ")
    .slice(0, -1)

const textOf = (fact: Fact): string => {
  if (fact === null || typeof fact === "string") return formatCell(fact)
  return "at" in fact ? (fact.at === null ? "never" : formatCell(fact.at)) : fact.id
}

/** Replaces the files that a command has for fields of many lines by their texts. */
const readTexts = Effect.fnUntraced(function* (fields: Fields, given: Readonly<Record<string, unknown>>) {
  const read = ([key, value]: readonly [string, unknown]) =>
    typeof value === "string" && fields[key]?.control.kind === "lines"
      ? Effect.map(readText(key, fields[key], value), (text) => [key, text] as const)
      : Effect.succeed([key, value] as const)
  return Object.fromEntries(yield* Effect.forEach(Object.entries(given), read))
})

/** Reads a text from a file: UTF-8, at most 1 MiB. */
const readText = Effect.fnUntraced(function* (key: string, { schema, control: { label } }: AnyField, file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const tag = `${key[0]!.toUpperCase()}${key.slice(1)}Unusable`
  const unusable = (reason: string) => refusal(tag, `The ${label} file ${file} ${reason}.`, { file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  if (type !== "File") return yield* Effect.fail(unusable("is not a regular file"))
  if (size > MAX_TEMPLATE_BYTES) return yield* Effect.fail(unusable("holds more than 1 MiB"))
  const bytes = yield* unreadable(readFile(file))
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  return yield* Effect.mapError(Effect.fromResult(parseInput<unknown, string>(schema)(text)), ({ reason }) =>
    unusable(reason.replace("it ", "")),
  )
})
