import type { NodeServices } from "@effect/platform-node/NodeServices"
import { type Fields, field, fieldName, prefixOf, required } from "@outreach/backoffice/operations/Field"
import { flagsOf, type Operation, type Subject } from "@outreach/backoffice/operations/Operation"
import { DescribedError } from "@outreach/domain/DescribedError"
import { expectedBy } from "@outreach/domain/textSchema"
import { Context, Effect, Record, type Schema } from "effect"
import { Command } from "effect/cli"
import { audited } from "./audit/audited.ts"
import { checkComplete, exampleOf, paramsOf, type Values, valuesOf } from "./inputs/paramsOf.ts"
import { runCommand } from "./runCommand.ts"
import { type Services, servicesOf } from "./servicesOf.ts"

/** The effect of a command: it shows data, shows personal data, or changes something. */
export class Access extends Context.Service<Access, "reads" | "reveals" | "changes">()("ops/Access") {}

export type AnyCommand = Command.Command<string, never, object, unknown, NodeServices>

/**
 * Creates the command of an operation. Its object is an argument, and its fields are flags. The audit log records its start and its result unless it
 * only reads.
 */
export const command = <S extends Subject, F extends Fields, Found, A>(
  operation: Operation<S, F, Found, A, Services>,
): AnyCommand => {
  const { access = "changes", about, of, input, isIrreversible, createsLog } = operation
  const words = operation.command.split(" ")
  const fields = { ...Record.map(of, subjectField), ...input, ...flagsOf(operation) }
  const handler = Effect.fn(`ops.${words.join(".")}`)(function* (values: Values) {
    yield* checkRange(values)
    yield* checkChanges(operation, values)
    yield* Effect.scoped(runCommand(operation, values))
  })
  const recorded = (values: Values) =>
    access === "reads" ? handler(values) : audited(operation.command, values, handler(values), createsLog)
  const { examples = [exampleOf(words, fields)] } = operation
  return Command.make(words.at(-1)!, paramsOf(fields), (parsed) => recorded(valuesOf(parsed))).pipe(
    Command.validate((parsed) => checkComplete(words, fields, parsed)),
    Command.withDescription(isIrreversible ? `${about}. Requires confirmation or --yes` : about),
    Command.withExamples(examples.map((command) => ({ command }))),
    Command.annotate(Access, access),
    Command.provide(servicesOf(operation.command)),
  ) as AnyCommand
}

/** Returns the argument for an object by its id. */
const subjectField = <A>(schema: Schema.Codec<A, string>, key: string) => {
  const [prefix, expected] = [prefixOf(schema), expectedBy(schema)]
  const id = expected.replace("the id", "Id").replace(/:.*/, "")
  const label = prefix === undefined ? `The ${fieldName(key).replaceAll("-", " ")}: ${expected}` : id
  return required(field(schema, label, { isArgument: true }))
}

class NothingToUpdate extends DescribedError("NothingToUpdate", "Give at least one of {flags}.") {}

const checkChanges = ({ isPartial, input }: { readonly isPartial?: true; readonly input: Fields }, values: Values) => {
  const changes = Object.keys(input)
  if (!isPartial || changes.some((key) => key in values)) return Effect.void
  return Effect.fail(new NothingToUpdate({ flags: changes.map((key) => `--${fieldName(key)}`).join(", ") }))
}

class InvalidRange extends DescribedError(
  "InvalidRange",
  "--to is before --from: a range from {from} to {to} holds nothing. Swap the two, or correct one.",
) {}

/** Fails if a command's `from` is after its `to`. Times keep their microseconds, and compare as text. */
const checkRange = ({ from, to }: Values) =>
  typeof from === "string" && typeof to === "string" && from > to
    ? Effect.fail(new InvalidRange({ from, to }))
    : Effect.void
