import { hash } from "node:crypto"
import type { CampaignWithProgram } from "@outreach/domain/campaigns/CampaignRepository"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { RecipientExpansion } from "./recipientRecord.ts"

/** Creates the strong ETag of a recipient record: a hash of its version, the expansion, and the versions of what is expanded. */
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
 * Reports whether an `If-None-Match` header names a tag, compared weakly (RFC 9110 13.1.2).
 *
 * A tag that a proxy weakened or suffixed on compression, as in `W/"abc"` and `"abc-gzip"`, still matches; junk does not.
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
