import { hash } from "node:crypto"
import type { CampaignWithProgram } from "@outreach/domain/campaigns/CampaignRepository"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { RecipientExpansion } from "./recipientRecord.ts"

/** Creates the strong ETag of a recipient record: a hash of its version, the expansion, and the versions of expanded objects. */
export const etag = (
  recipient: Recipient,
  expansion: RecipientExpansion,
  summary: CampaignWithProgram | undefined,
): string => {
  const versions = [...expansion].sort().map((name) => [name, summary?.[name].updatedAt ?? null])
  const digest = hash("sha256", JSON.stringify([recipient.id, recipient.updatedAt, versions]), "base64url")
  return `"${digest.slice(0, 27)}"`
}

/**
 * Returns whether an `If-None-Match` header contains a tag, by weak comparison (RFC 9110, 13.1.2).
 *
 * Tags that a proxy weakened or suffixed during compression, such as `W/"abc"` and `"abc-gzip"`, also match; malformed ones don't.
 */
export const matchesEtag = (ifNoneMatch: string | undefined, tag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === "*") return true
  const opaque = tag.slice(1, -1)
  return ifNoneMatch.split(",").some((entry) => {
    const given = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(entry)?.[1]
    return given?.startsWith(opaque) && /^(?:[-;]{1,2}(?:gzip|br|zstd|deflate))?$/.test(given.slice(opaque.length))
  })
}
