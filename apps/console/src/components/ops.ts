import { type Fields, fieldName } from "@outreach/backoffice/operations/Field"
import { Seconds } from "@outreach/domain/textSchema"
import { Record } from "effect"

/** A command of `ops`: its name, arguments and flags. */
export type Command = Parameters<typeof ops>

/** Values of flags by name. True is a flag without a value; undefined, false and empty flags are omitted. */
type Flags = Readonly<Record<string, unknown>>

/** Returns the words of a command, so that no value can become shell syntax. Values that start with a dash don't become flags. */
export const ops = (command: string, ...inputs: ReadonlyArray<string | Flags>): ReadonlyArray<string> => {
  const args = inputs.filter((input) => typeof input === "string")
  const flags = inputs.flatMap((input) => (typeof input === "string" ? [] : Object.entries(input).flatMap(flagWords)))
  const isLikeFlag = args.some((arg) => arg.startsWith("-"))
  return ["ops", ...command.split(" "), ...(isLikeFlag ? [...flags, "--", ...args] : [...args, ...flags])]
}

/** Returns the flags of the equivalent command from the values of a form. */
export const flagsOf = (fields: Fields, values: Readonly<Record<string, unknown>>): Flags =>
  Record.map(Record.mapKeys(fields, fieldName), ({ schema }, name) =>
    schema === Seconds && values[name] !== undefined ? `${values[name]}s` : values[name],
  )

const flagWords = ([name, value]: readonly [string, unknown]): ReadonlyArray<string> => {
  const text = String(value ?? "")
  if (value === false || text === "") return []
  if (value === true) return [`--${name}`]
  return text.startsWith("-") ? [`--${name}=${text}`] : [`--${name}`, text]
}
