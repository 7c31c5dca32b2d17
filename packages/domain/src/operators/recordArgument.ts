import { Redacted } from "effect"

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
  before: "recorded",
  "bounce-domain": "recorded",
  campaign: "recorded",
  check: "recorded",
  "completer-target": "recorded",
  confirm: "recorded",
  date: "recorded",
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
  force: "recorded",
  from: "recorded",
  grace: "recorded",
  group: "recorded",
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
  result: "recorded",
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

/** Returns the value of an argument as the audit log records it; null if it is withheld. */
export const recordArgument = (
  name: string,
  value: unknown,
): string | number | boolean | ReadonlyArray<string> | null => {
  const treatment = ARGUMENTS[name]
  if (Redacted.isRedacted(value)) return null
  if (treatment === "origin") return URL.parse(String(value))?.origin ?? null
  if (treatment !== "recorded") return null
  if (typeof value === "number" || typeof value === "boolean" || isHarmless(value)) return value
  return Array.isArray(value) && value.every(isHarmless) ? value : null
}

const isHarmless = (value: unknown): value is string => typeof value === "string" && !/@|^\d{10}$/.test(value)
