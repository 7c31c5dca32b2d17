import type { AuditedArguments } from "@outreach/postgres/operators/AuditLog"
import { Option, Redacted } from "effect"
import { type Command, Param } from "effect/cli"

/**
 * How the audit log treats each flag and argument of the commands that it records, by its name on the command line.
 *
 * `recorded` values are ids, names of things, words of a fixed list, numbers and times. Of an `origin` only the scheme and the host are recorded.
 * A `withheld` value may be a secret, personal data or a text; the log records only that the argument was given. Unknown names are withheld, and so
 * is every value that has the form of an e-mail address or an NPI.
 */
export const ARGUMENTS: Readonly<Record<string, "recorded" | "origin" | "withheld">> = {
  "ab-after": "recorded",
  "ab-share": "recorded",
  after: "recorded",
  all: "recorded",
  "bounce-domain": "recorded",
  campaign: "recorded",
  check: "recorded",
  "completer-target": "recorded",
  confirm: "recorded",
  delivery: "recorded",
  detach: "recorded",
  "dkim-domain": "recorded",
  "dkim-key": "withheld",
  "dns-server": "recorded",
  "dry-run": "recorded",
  email: "withheld",
  endpoint: "recorded",
  event: "recorded",
  expires: "recorded",
  fields: "recorded",
  file: "withheld",
  "follow-up": "recorded",
  from: "recorded",
  grace: "recorded",
  "grant-to": "recorded",
  hours: "recorded",
  html: "withheld",
  id: "recorded",
  "ignore-columns": "recorded",
  key: "recorded",
  kind: "recorded",
  layout: "recorded",
  "learner-target": "recorded",
  limit: "recorded",
  log: "withheld",
  margin: "recorded",
  "max-in-flight": "recorded",
  name: "recorded",
  npi: "withheld",
  "older-than": "recorded",
  operator: "recorded",
  organization: "recorded",
  out: "withheld",
  overlap: "recorded",
  "per-minute": "recorded",
  "postal-address": "recorded",
  program: "recorded",
  promoted: "recorded",
  quiet: "recorded",
  ramp: "recorded",
  rate: "recorded",
  reason: "recorded",
  recipient: "withheld",
  rejects: "withheld",
  replay: "recorded",
  "reply-to": "withheld",
  "restored-to": "recorded",
  "resume-campaigns": "recorded",
  reveal: "recorded",
  role: "recorded",
  scopes: "recorded",
  secret: "recorded",
  "short-link": "origin",
  selector: "recorded",
  sender: "recorded",
  "sender-name": "recorded",
  since: "recorded",
  "skip-bad": "recorded",
  slug: "recorded",
  "standard-webhooks": "recorded",
  status: "recorded",
  subject: "withheld",
  "subject-b": "withheld",
  text: "withheld",
  to: "recorded",
  token: "withheld",
  type: "recorded",
  types: "recorded",
  unless: "recorded",
  url: "origin",
  "window-end": "recorded",
  "window-start": "recorded",
  "with-session-settings": "recorded",
  yes: "recorded",
}

/** Returns the arguments that a command was given, as the audit log records them. A switch that is off counts as not given. */
export const auditArguments = (config: Command.Command.Config, input: unknown): AuditedArguments =>
  Object.fromEntries(
    Object.entries(config).flatMap(([key, param]) => {
      const value = given((input as Readonly<Record<string, unknown>>)[key])
      if (value === undefined) return []
      const name = nameOf(param) ?? key
      return [[name, show(ARGUMENTS[name], value)]]
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

const show = (treatment: (typeof ARGUMENTS)[string] | undefined, value: unknown): AuditedArguments[string] => {
  if (Redacted.isRedacted(value)) return null
  if (treatment === "origin") return URL.parse(String(value))?.origin ?? null
  if (treatment !== "recorded") return null
  if (typeof value === "number" || typeof value === "boolean" || isHarmless(value)) return value
  return Array.isArray(value) && value.every(isHarmless) ? value : null
}

const isHarmless = (value: unknown): value is string => typeof value === "string" && !/@|^\d{10}$/.test(value)
