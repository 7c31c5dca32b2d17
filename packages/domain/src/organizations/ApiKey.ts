import { SCOPES } from "@outreach/contract/names"
import { Schema } from "effect"
import { BASE62, KeyId, OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** A key without its text. */
export const ApiKey = Schema.Struct({
  id: KeyId,
  organizationId: OrganizationId,
  name: Schema.String,
  scopes: Schema.Array(Schema.Literals(SCOPES)),
  /** `orp_live_` or `orp_test_`. */
  prefix: Schema.String,
  lastFour: Schema.String,
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp),
  revokedAt: Schema.NullOr(Timestamp),
  lastUsedAt: Schema.NullOr(Timestamp),
})
export type ApiKey = typeof ApiKey.Type

/** An authenticated caller. */
export interface Caller extends Pick<ApiKey, "organizationId" | "scopes"> {
  readonly keyId: KeyId
}

export const KEY_REQUESTS_PER_MINUTE = 100

const FORM = /^orp_(live|test)_([0-9A-Za-z]{30})_([0-9A-Za-z]{6})$/

const keyPrefix = (livemode: boolean): string => (livemode ? "orp_live_" : "orp_test_")

/** Creates a key's text from its 30 random base62 characters. */
export const apiKeyText = (livemode: boolean, random: string): string =>
  `${keyPrefix(livemode)}${random}_${checksum(random)}`

/** Returns whether text is a well-formed key of this mode, so that the database must be queried. */
export const isApiKeyText = (text: string, livemode: boolean): boolean => {
  const match = FORM.exec(text)
  return match !== null && match[1] === (livemode ? "live" : "test") && checksum(match[2]!) === match[3]
}

/** Six base62 digits of the CRC-32 (ISO 3309) of ASCII text. */
const checksum = (text: string): string => {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let value = (crc ^ 0xffffffff) >>> 0
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
