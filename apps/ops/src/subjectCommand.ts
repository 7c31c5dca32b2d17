import { pageOperation } from "@outreach/backoffice/operations/List"
import type { Declared, ServicesOf } from "@outreach/backoffice/operations/Operation"
import { subjects as sharedSubjects } from "@outreach/backoffice/subjects"
import { Command } from "effect/cli"
import { type AnyCommand, command } from "./command.ts"
import type { Services } from "./servicesOf.ts"

/** The subjects, and the commands that exist only here, because they print what they find about this machine, too. */
export const subjects = {
  ...sharedSubjects,
  doctor: [null, () => [import("./diagnoses.ts")]],
  status: [null, () => [import("./diagnoses.ts")]],
} as const

type Modules = Awaited<ReturnType<(typeof subjects)[keyof typeof subjects][1]>[number]>
type ServicesOfModule<M> = M extends object ? ServicesOf<M[keyof M]> : never

/** Creates a subject without its commands, which it doesn't load. A subject without a description is a command itself, and is loaded. */
export const outlineSubject = async (word: keyof typeof subjects): Promise<AnyCommand> => {
  const [about] = subjects[word]
  return about === null ? subjectCommand(word) : described(word, about)
}

const described = (word: string, about: string): AnyCommand =>
  Command.make(word).pipe(Command.withDescription(about)) as AnyCommand

/** Loads the commands of a subject, in alphabetical order. */
export const subjectCommand = async (word: keyof typeof subjects): Promise<AnyCommand> => {
  const [about, load] = subjects[word]
  const modules = await Promise.all<object>(load())
  const commands = modules
    .flatMap((module): ReadonlyArray<unknown> => Object.values(module))
    .filter(isDeclared)
    .filter(({ command }) => command.split(" ")[0] === word)
    .toSorted((one, other) => (one.command < other.command ? -1 : 1))
    .map(toCommand)
  if (about === null) return commands[0]!
  return described(word, about).pipe(Command.withSubcommands(commands)) as AnyCommand
}

// The compiler checks here that each operation and list has its services.
const isDeclared = (value: unknown): value is Declared<ServicesOfModule<Modules>> =>
  typeof value === "object" && value !== null && "command" in value && ("run" in value || "read" in value)

/** Inputs and rows are not covariant, so the types of these aren't known. */
const toCommand = (declared: Declared<Services>): AnyCommand =>
  command(("read" in declared ? pageOperation(declared as never) : declared) as never)
