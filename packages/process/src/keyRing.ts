import { hkdfSync } from "node:crypto"
import { DEFAULT_KEY_ID, type KeyRing, type RingKey } from "@outreach/domain/KeyRing"
import { textSchema } from "@outreach/domain/textSchema"
import { type Config, Redacted } from "effect"
import { secretSetting } from "./setting.ts"

const MAX_KEYS = 8

/** A base64 key of 32 bytes, optionally preceded by its id. */
const ENTRY = /^(?:([A-Za-z0-9._-]{1,32}):)?([A-Za-z0-9+/]{43}=)$/

/** Reads one key, or up to eight `id:key` entries separated by commas or line breaks, newest first. */
export const keyRing = (name: string, about: string): Config.Config<KeyRing> =>
  secretSetting(
    name,
    textSchema(
      `32 random bytes in base64, as \`openssl rand -base64 32\` makes them, or up to ${MAX_KEYS} such keys as id:key, newest first, with commas or line breaks between them`,
      (text) => parseKeyRing(text, name),
    ),
    { about },
  )

/** Returns undefined for an invalid single key. For several keys, throws `RangeError` with the position, counted from 1. */
const parseKeyRing = (text: string, label: string): KeyRing | undefined => {
  const entries = text.replace(/(?:\r?\n)+$/, "").split(/[ \t]*(?:,|\r?\n)[ \t]*/)
  if (entries.length > MAX_KEYS) throw new RangeError(`it has more than ${MAX_KEYS} keys`)
  const keys = entries.map((entry) => parseKey(entry, label))
  if (keys.length > 1 && keys.includes(undefined)) {
    throw new RangeError(`key ${keys.indexOf(undefined) + 1} of ${keys.length} is not valid`)
  }
  const [newest, ...older] = keys.filter((key) => key !== undefined)
  if (newest === undefined) return undefined
  const ring: KeyRing = [newest, ...older]
  assertDistinct(ring, "have the same id", ({ id }) => id)
  assertDistinct(ring, "are the same key", ({ key }) => Buffer.from(Redacted.value(key)).toString("hex"))
  return ring
}

const assertDistinct = (ring: KeyRing, problem: string, textOf: (key: RingKey) => string): void => {
  const texts = ring.map(textOf)
  const repeated = texts.findIndex((text, i) => texts.indexOf(text) < i)
  if (repeated < 0) return
  throw new RangeError(`keys ${texts.indexOf(texts[repeated]!) + 1} and ${repeated + 1} ${problem}`)
}

const parseKey = (entry: string, label: string): RingKey | undefined => {
  const [, id = DEFAULT_KEY_ID, base64 = ""] = ENTRY.exec(entry) ?? []
  const bytes = Buffer.from(base64, "base64")
  // Only one base64 encoding of the same bytes is canonical.
  if (base64 === "" || bytes.toString("base64") !== base64) return undefined
  return { id, mark: markOf(bytes), key: Redacted.make(bytes, { label }) }
}

/** Creates a key ring of one key without an id. */
export const singleKey = (key: Redacted.Redacted<Uint8Array>): KeyRing => [
  { id: DEFAULT_KEY_ID, mark: markOf(Redacted.value(key)), key },
]

const markOf = (key: Uint8Array): number =>
  new Uint8Array(hkdfSync("sha256", key, new Uint8Array(), "outreach key mark", 1))[0]!
