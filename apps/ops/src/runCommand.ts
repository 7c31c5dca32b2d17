import { followReplay } from "@outreach/backoffice/deliveries/followReplay"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import type { AnyField, Fields } from "@outreach/backoffice/operations/Field"
import {
  type FlagValues,
  factText,
  type InputOf,
  type Operation,
  type Plan,
} from "@outreach/backoffice/operations/Operation"
import { checkIds } from "@outreach/backoffice/operators/ObjectFinder"
import { DescribedError } from "@outreach/domain/DescribedError"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/Message"
import { parseInput } from "@outreach/domain/textSchema"
import { Effect, FileSystem, Result } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { operatorOrUser } from "./audit/audited.ts"
import type { Values } from "./inputs/paramsOf.ts"
import { COMMAND_NAME } from "./output/formatHelp.ts"
import { CommandLine, formatCell, Output, printParts, printToStderr, showingProgress } from "./output/Output.ts"

/** Runs an operation after its confirmation, and prints its result if it is an object. */
export const runCommand = Effect.fnUntraced(function* <S, F extends Fields, Found, A, R>(
  operation: Operation<S, F, Found, A, R>,
  { dryRun, detach, quiet, yes, ...values }: Values & FlagValues,
) {
  const { input, isIrreversible, plan, replay, show, failure, next, shownOnce, done } = operation
  const given = (yield* readTexts(input, values)) as InputOf<S, F>
  const planned = (dryRun || isIrreversible) && plan !== undefined ? yield* plan(given) : undefined
  if (dryRun && planned !== undefined) {
    const { count = null, obstacle } = planned
    if (count === 0) yield* checkIds(given)
    const action = obstacle ?? describePlan(planned)
    return yield* printParts({ count, action }, [action])
  }
  // With a field for the number of objects that the operation may affect, it checks the number itself.
  const isConfirmed = yes || "confirm" in values
  const confirmed = planned === undefined || isConfirmed ? {} : yield* confirmPlan(planned)
  const run = operation.run({ ...given, ...confirmed }, yield* operatorOrUser)
  const result = yield* showingProgress(quiet)(run)
  if (typeof result !== "object" || result === null) return
  const job = replay?.(result)
  const isRunning = job?.state === "running"
  if (job?.total === 0) yield* checkIds(given)
  if (isRunning) yield* printToStderr(done(result, given))
  const ended = isRunning && !detach ? { ...result, ...(yield* showingProgress()(followReplay(job))) } : result
  const failed = failure?.(ended)
  if (failed === undefined || (yield* Output) !== "json") yield* printParts(ended, show?.(ended, given))
  if (failed !== undefined) return yield* Effect.fail(failed)
  const after = next?.(ended)
  if (after !== undefined) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, after)}`)
  const notes = job ? [] : [done(ended, given), shownOnce?.(ended) && "This is shown only once. Save it now."]
  const note = notes.filter(Boolean).join("\n")
  if (note !== "") yield* printToStderr(`\n${note}`)
})

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}

class NotConfirmed extends DescribedError(
  "NotConfirmed",
  ({ flags, action }: { readonly action: string; readonly count: number | null; readonly flags: string }) =>
    `Nothing was done. Confirm with ${flags}. ${action}`,
) {}

/** Prompts on a terminal to confirm a plan with a caution. Fails if the user declines, and without a terminal. Returns the confirmed values. */
const confirmPlan = Effect.fnUntraced(function* (plan: Plan) {
  const { caution, count = null, values = {} } = plan
  if (caution === undefined) return values
  const action = describePlan(plan)
  const flags = "confirm" in values ? `--confirm ${count}, or --yes for however many` : "--yes"
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const prompt = Prompt.Confirm({ message: `${action} Continue?` })
  if ((yield* Output) === "table" && canPrompt && (yield* Prompt.run(prompt))) return values
  return yield* new NotConfirmed({ action, count, flags })
})

/** Describes what an operation would do. */
const describePlan = ({ title, many, affects, facts = {}, when, caution }: Plan): string =>
  [
    `${title}: ${many} (${[affects.name, affects.id].filter(Boolean).join(", ")}).`,
    ...Object.entries(facts).map(([label, fact]) => `${label}: ${formatCell(factText(fact)).replace(/\.$/, "")}.`),
    when,
    ...(caution === undefined ? [] : [caution.because]),
  ].join(" ")

/** Replaces the files that a command has for fields of many lines by their texts. */
const readTexts = Effect.fnUntraced(function* (fields: Fields, given: Readonly<Record<string, unknown>>) {
  const read = ([key, value]: readonly [string, unknown]) => {
    const field = fields[key]
    if (typeof value !== "string" || field?.control.kind !== "lines") return Effect.succeed([key, value] as const)
    // Instead of a file, a field may accept `none`.
    const isNone = value === "none" && Result.getOrUndefined(parseInput<unknown, string>(field.schema)(value)) === null
    return isNone
      ? Effect.succeed([key, null] as const)
      : Effect.map(readText(field, value), (text) => [key, text] as const)
  }
  return Object.fromEntries(yield* Effect.forEach(Object.entries(given), read))
})

class UnusableFile extends DescribedError("UnusableFile", "The {label} file {file} {reason}.") {}

/** Reads a text from a file or a pipe: UTF-8, at most 1 MiB. */
const readText = Effect.fnUntraced(function* ({ schema, control: { label } }: AnyField, file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const unusable = (reason: string) => new UnusableFile({ label, file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  // A pipe, such as /dev/stdin, keeps secrets off the disk.
  if (type !== "File" && type !== "FIFO") return yield* unusable("is neither a regular file nor a pipe")
  const bytes = size > MAX_TEMPLATE_BYTES ? undefined : yield* unreadable(readFile(file))
  if (bytes === undefined || bytes.length > MAX_TEMPLATE_BYTES) return yield* unusable("holds more than 1 MiB")
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  return yield* Effect.mapError(Effect.fromResult(parseInput<unknown, string>(schema)(text)), ({ expected, reason }) =>
    unusable(reason === "" ? `is not ${expected}` : reason.replace("it ", "")),
  )
})
