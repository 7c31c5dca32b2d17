import { IdReader } from "@outreach/backoffice/operators/IdReader"
import { Console, Effect, Layer, Option } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { formatCell } from "../output/Output.ts"

const TIME_LIMIT = "1 second"

interface Candidate {
  readonly value: string
  readonly about: string
}

/** Prints what completes the last of the words after `ops`, each with what it is; ids and names of things come from the database. */
export const complete = Effect.fnUntraced(function* (root: Command.Command.Any, words: ReadonlyArray<string>) {
  const current = words.at(-1) ?? ""
  const given = words.slice(0, -1)
  const path = pathOf(root, given)
  const doc = yield* helpOf(root, path)
  const candidates = yield* candidatesFor(doc, given.slice(path.length), current)
  const lines = candidates.map(({ value, about }) => formatCell(value) + (about === "" ? "" : `\t${formatCell(about)}`))
  if (lines.length > 0) yield* Console.log(lines.join("\n"))
})

/** Returns the leading words that name a command or a group. */
const pathOf = (command: Command.Command.Any, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const below = command.subcommands.flatMap(({ commands }) => commands).find(({ name }) => name === words[0])
  return below === undefined ? [] : [below.name, ...pathOf(below, words.slice(1))]
}

/** Runs a command with `--help`, and returns what it would print. */
export const helpOf = (root: Command.Command.Any, path: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    let doc: HelpDoc.HelpDoc | undefined
    const presenter: CliOutput.Presenter = {
      present: (event) =>
        Effect.sync(() => {
          if (event._tag === "Help") doc = event.helpDoc
        }),
    }
    // The help needs none of the services that the commands need.
    const run = Command.runWith(root as Command.Command<string, unknown>, { version: "" })([...path, "--help"])
    return Effect.map(Effect.provideService(run, CliOutput.Presenter, presenter), () => doc!)
  })

const candidatesFor = (doc: HelpDoc.HelpDoc, given: ReadonlyArray<string>, current: string) => {
  const flags = [...doc.flags, ...(doc.globalFlags ?? [])]
  const flagOf = (word = "") => flags.find(({ name, type }) => type !== "boolean" && word === `--${name}`)
  const flag = flagOf(given.at(-1))
  if (flag !== undefined) return valuesOf(flag, current)
  if (current.startsWith("-")) {
    const unused = flags.filter(({ name }) => !given.includes(`--${name}`))
    return Effect.succeed(
      beginning(
        current,
        unused.map(({ name, description }) => ({ value: `--${name}`, about: textOf(description) })),
      ),
    )
  }
  const subcommands = (doc.subcommands ?? []).flatMap(({ commands }) => commands)
  if (subcommands.length > 0) {
    const named = subcommands.map(({ name, description }) => ({ value: name, about: description }))
    return Effect.succeed(given.length === 0 ? beginning(current, named) : [])
  }
  const position = given.filter((word, i) => !word.startsWith("-") && flagOf(given[i - 1]) === undefined).length
  const argument = doc.args?.[position] ?? doc.args?.find(({ variadic }) => variadic)
  return argument === undefined ? Effect.succeed([]) : valuesOf(argument, current)
}

/** Lists the values of a flag or an argument: its choices, or the ids of the kind that its description names. */
const valuesOf = ({ description }: HelpDoc.FlagDoc | HelpDoc.ArgDoc, current: string) => {
  const text = textOf(description)
  const [, choices] = /\(choices: ([^)]*)\)$/.exec(text) ?? []
  if (choices !== undefined) {
    return Effect.succeed(
      beginning(
        current,
        choices.split(", ").map((value) => ({ value, about: "" })),
      ),
    )
  }
  const [, prefix] = /\b([a-z]{3})_…/.exec(text) ?? []
  return prefix === undefined ? Effect.succeed([]) : idsOf(prefix, current)
}

/** Reads ids, or none where the database does not answer soon. */
const idsOf = (prefix: string, current: string) =>
  Effect.gen(function* () {
    const { database } = yield* Effect.promise(() => import("../database.ts"))
    const ids = yield* Effect.provide(
      IdReader.use((reader) => reader.beginning(prefix, current)),
      Layer.provideMerge(IdReader.layer, database),
    )
    return ids.map(({ id, name }): Candidate => ({ value: id, about: name }))
  }).pipe(
    Effect.timeout(TIME_LIMIT),
    Effect.catchCause(() => Effect.succeed<ReadonlyArray<Candidate>>([])),
  )

const textOf = Option.getOrElse(() => "")

const beginning = (text: string, candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> =>
  candidates.filter(({ value }) => value.startsWith(text))
