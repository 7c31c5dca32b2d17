import { type Brand, Effect, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"

/** Prefixes of ids by kind. */
export const PREFIXES = {
  organization: "org",
  program: "pgm",
  campaign: "cmp",
  recipient: "rcp",
  event: "evt",
  request: "req",
  key: "key",
  endpoint: "whe",
  secret: "sec",
  delivery: "dlv",
  replay: "rpl",
  hit: "hit",
  restore: "rst",
  erasure: "ers",
  sender: "snd",
  dkimKey: "dkm",
  operator: "opr",
  session: "ses",
  failureGroup: "fgr",
  import: "imp",
} as const

export type Kind = keyof typeof PREFIXES

/** An id: a prefix and the 32 lowercase hex digits of a UUIDv7, so that ids sort by creation. For a failure group, the digits of a hash. */
export type Identifier<K extends Kind> = `${(typeof PREFIXES)[K]}_${string}` & Brand.Brand<"Identifier">

/** Creates the schema of a kind's ids. */
export const Identifier = <K extends Kind>(kind: K) =>
  Schema.String.pipe(
    Schema.refine((text): text is Identifier<K> => PATTERN.exec(text)?.[1] === PREFIXES[kind], {
      expected: `the id of ${withArticle(kind)}: ${PREFIXES[kind]}_ and 32 hex digits`,
    }),
  )

const withArticle = (kind: Kind): string => {
  const words = kind.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`
}

const PATTERN = /^([a-z]{3})_[0-9a-f]{32}$/

export const isIdentifier = (text: string): boolean => PATTERN.test(text)

export const OrganizationId = Identifier("organization")
export type OrganizationId = Identifier<"organization">
export const ProgramId = Identifier("program")
export type ProgramId = Identifier<"program">
export const CampaignId = Identifier("campaign")
export type CampaignId = Identifier<"campaign">
export const RecipientId = Identifier("recipient")
export type RecipientId = Identifier<"recipient">
export const EventId = Identifier("event")
export type EventId = Identifier<"event">
export const KeyId = Identifier("key")
export type KeyId = Identifier<"key">
export const EndpointId = Identifier("endpoint")
export type EndpointId = Identifier<"endpoint">
export const DeliveryId = Identifier("delivery")
export type DeliveryId = Identifier<"delivery">
export const SecretId = Identifier("secret")
export type SecretId = Identifier<"secret">
export const ReplayId = Identifier("replay")
export type ReplayId = Identifier<"replay">
export const SenderId = Identifier("sender")
export type SenderId = Identifier<"sender">
export const ErasureId = Identifier("erasure")
export type ErasureId = Identifier<"erasure">
export const DkimKeyId = Identifier("dkimKey")
export type DkimKeyId = Identifier<"dkimKey">
export const HitId = Identifier("hit")
export type HitId = Identifier<"hit">
export const FailureGroupId = Identifier("failureGroup")
export type FailureGroupId = Identifier<"failureGroup">
export const RestoreId = Identifier("restore")
export type RestoreId = Identifier<"restore">
export const ImportId = Identifier("import")
export type ImportId = Identifier<"import">
export const OperatorId = Identifier("operator")
export type OperatorId = Identifier<"operator">
export const SessionId = Identifier("session")
export type SessionId = Identifier<"session">

export const createIdentifier = <K extends Kind>(
  kind: K,
): Effect.Effect<Identifier<K>, never, SecureRandom.SecureRandom> =>
  Effect.map(
    SecureRandom.SecureRandom.use((random) => random.uuidV7()),
    (uuid) => `${PREFIXES[kind]}_${uuid.replaceAll("-", "")}` as Identifier<K>,
  )

/** Returns the lowest id of a kind for a creation time in Unix milliseconds. */
export const lowestIdentifierAt = <K extends Kind>(kind: K, millis: number): Identifier<K> =>
  `${PREFIXES[kind]}_${Math.max(0, Math.floor(millis)).toString(16).padStart(12, "0")}${"0".repeat(20)}` as Identifier<K>

/** Returns the creation time of an id in Unix milliseconds. */
export const madeAt = (id: Identifier<Kind>): number => Number.parseInt(id.slice(id.indexOf("_") + 1).slice(0, 12), 16)

export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Draws `length` uniformly distributed base62 characters from the cryptographic source. */
export const randomBase62 = Effect.fnUntraced(function* (length: number) {
  const random = yield* SecureRandom.SecureRandom
  let text = ""
  while (text.length < length) {
    for (const byte of yield* random.randomBytes(2 * length)) {
      // 248 = 4 × 62: higher bytes would favour the first eight characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
})
