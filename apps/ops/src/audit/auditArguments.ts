import type { AuditedArguments } from "@outreach/backoffice/operators/AuditLog"
import { recordArgument } from "@outreach/domain/operators/recordArgument"
import { Option } from "effect"
import type { Param } from "effect/cli"
import { isParam, type Params, type Parsed } from "../inputs/Input.ts"

/** Returns the arguments that a command was given, as the audit log records them. A switch that is off by default counts as not given. */
export const auditArguments = (params: Params, parsed: Parsed): AuditedArguments =>
  Object.fromEntries(argumentsOf(params, parsed))

const argumentsOf = (params: Params, parsed: Parsed): ReadonlyArray<readonly [string, AuditedArguments[string]]> =>
  Object.entries(params).flatMap(([key, param]) => {
    const value = parsed[key]
    if (!isParam(param)) return argumentsOf(param, value as Parsed)
    const given = Option.isOption(value)
      ? Option.toArray(value)
      : value === false || (Array.isArray(value) && value.length === 0)
        ? []
        : [value]
    return given.map((each) => [nameOf(param), recordArgument(nameOf(param), each)] as const)
  })

/** Returns a flag's or an argument's name on the command line. */
export const nameOf = (param: Param.Any | Params): string => {
  let each = param as { readonly _tag?: string; readonly param?: unknown; readonly name?: string }
  while (each._tag !== "Single" && each.param !== undefined) each = each.param as typeof each
  return each.name!
}
