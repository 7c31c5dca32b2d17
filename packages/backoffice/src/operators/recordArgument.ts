import { Redacted, Struct } from "effect"

type Treatment = "recorded" | "origin" | "withheld"

/**
 * The flags and arguments of recorded commands by their treatment.
 *
 * `recorded` values are ids, names of objects, words of a fixed list, numbers and times. Of an `origin`, only scheme and host are recorded.
 * A `withheld` value may be a secret, personal data or free text; the log records only that the argument was given.
 */
const NAMES: Readonly<Record<Treatment, string>> = {
  withheld:
    "contact dkim-key email file headers html log map npi out preheader recipient rejects reply-to subject text token",
  origin: "short-link url",
  recorded: `
    after all before bom bounce-domain campaign check completer-target confirm date delivery detach
    disable-when-failing dkim-domain dns-server dry-run endpoint event expires fields force format from grace
    grant-to group id ignore-columns import in-flight key kind layout learner-target limit link-domain margin max-endpoints name
    no-contacts older-than operator organization outcome overlap own-secret pause-on-complaints per-minute
    per-second postal-address program promoted quiet ramp rate reason replay replay-missed restored-to result
    resume-campaigns retry-schedule retry-statuses reveal role scope scopes secret selector self-service sender sender-name
    session since skip-bad slug sort standard-webhooks status to type types window-end window-start with-session-settings
    yes
  `,
}

/** The treatment by name. Unknown names are withheld, and so are all values that look like an e-mail address or an NPI. */
export const ARGUMENTS: Readonly<Record<string, Treatment>> = Object.fromEntries(
  Struct.keys(NAMES).flatMap((treatment) => NAMES[treatment].match(/\S+/g)!.map((name) => [name, treatment])),
)

/** Returns an argument's value for the audit log; null if it is withheld. */
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
