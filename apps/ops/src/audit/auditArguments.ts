import type { AuditedArguments } from "@outreach/backoffice/operators/AuditLog"
import { recordArgument } from "@outreach/domain/operators/recordArgument"
import { Option } from "effect"
import { type Command, Param } from "effect/cli"

/** Returns the arguments that a command was given, as the audit log records them. A switch that is off counts as not given. */
export const auditArguments = (config: Command.Command.Config, input: unknown): AuditedArguments =>
  Object.fromEntries(
    Object.entries(config).flatMap(([key, param]) => {
      const value = given((input as Readonly<Record<string, unknown>>)[key])
      if (value === undefined) return []
      const name = nameOf(param) ?? key
      return [[name, recordArgument(name, value)]]
    }),
  )

const given = (value: unknown): unknown => {
  if (Option.isOption(value)) return Option.getOrUndefined(value)
  return value === false || (Array.isArray(value) && value.length === 0) ? undefined : value
}

/** Returns a flag's or an argument's name on the command line; undefined for a group of several. */
export const nameOf = (param: unknown): string | undefined => {
  let each = param as { readonly _tag?: string; readonly param?: unknown; readonly name?: string }
  if (!Param.isParam(param)) return undefined
  while (each._tag !== "Single" && each.param !== undefined) each = each.param as typeof each
  return each.name
}
