import { createMatcher, type Subject } from "@outreach/domain/erasure/Erasure"
import { checkDigit } from "@outreach/domain/recipients/Clinician"
import { Result } from "effect"

/** Replaces other persons' NPIs, addresses, tokens or record ids. */
const WITHHELD = "[withheld]"

/** Text that may identify a clinician: an address, a recipient's id, an NPI, or a word that looks like a token. */
const NAMES =
  /[\p{L}\p{M}\w.%+-]{1,64}(?:@|%40|\\u0040)[\p{L}\p{M}\w-]{1,63}(?:\.[\p{L}\p{M}\w-]{1,63})+|rcp_[0-9a-f]{32}|(?<!\d)[12]\d{9}(?!\d)|(?<![0-9A-Za-z])[0-9A-Za-z]{6}(?![0-9A-Za-z])/giu

/** Returns the words of a text that look like tokens. */
export const tokenWords = (text: string): ReadonlyArray<string> =>
  (text.match(NAMES) ?? []).filter((word) => /^[0-9A-Za-z]{6}$/.test(word))

/**
 * Creates a function that returns a text's data about the subject: JSON as a value, anything else as text.
 *
 * Omits JSON objects about other persons only. Other identifying data is replaced by `WITHHELD`. An NPI or address that isn't
 * known to be the subject's is treated as another person's; a token if it is in `otherTokens`.
 */
export const createExtractor = (subject: Subject, otherTokens: ReadonlySet<string>): ((text: string) => unknown) => {
  const matches = createMatcher(subject)
  const ids = new Set<string>(subject.recipients.map(({ id }) => id))

  const isOther = (name: string): boolean => {
    if (/@|%40|\\u0040/i.test(name)) return !subject.emails.includes(decodeAddress(name))
    if (name.startsWith("rcp_")) return !ids.has(name)
    if (name.length === 10) return !subject.npis.includes(name) && checkDigit(name.slice(0, 9)) === name.slice(9)
    return otherTokens.has(name)
  }
  const namesOther = (text: string) => (text.match(NAMES) ?? []).some(isOther)
  const withhold = (text: string) => text.replaceAll(NAMES, (name) => (isOther(name) ? WITHHELD : name))

  const isKept = (value: unknown): boolean => {
    if (!isNested(value) || Array.isArray(value)) return true
    const text = JSON.stringify(value)
    return matches(text) || !namesOther(text)
  }
  const extract = (value: unknown): unknown => {
    if (typeof value === "string") return withhold(value)
    if (typeof value === "number") return namesOther(String(value)) ? WITHHELD : value
    if (Array.isArray(value)) {
      // A list of records that includes the subject's is a list of people.
      const own = value.filter((each) => isNested(each) && matches(JSON.stringify(each)))
      return (own.length > 0 ? own : value.filter(isKept)).map(extract)
    }
    if (!isNested(value)) return value
    const kept = Object.entries(value).filter(([, each]) => isKept(each))
    return Object.fromEntries(kept.map(([key, each]) => [withhold(key), extract(each)]))
  }
  return (text) => extract(parseJson(text))
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null

const parseJson = (text: string): unknown =>
  Result.getOrElse(
    Result.try((): unknown => JSON.parse(text)),
    () => text,
  )

const decodeAddress = (name: string): string => {
  const text = name.replaceAll(/\\u0040/gi, "@")
  return Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text,
  ).toLowerCase()
}
