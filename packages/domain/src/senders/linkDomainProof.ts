import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import type { TrackingSeal } from "../hits/TrackingLinks.ts"

/** Path under which a link domain proves that this deployment serves it, followed by a challenge. */
export const LINK_DOMAIN_PROOF_PATH = "/.well-known/outreach-link-domain/"

/** A challenge, new for each proof: 16 to 48 bytes in base64url. */
export const isLinkDomainChallenge = (text: string): boolean => /^[\w-]{22,64}$/.test(text)

// No tracked link or return path starts with these bytes, so that seals aren't interchangeable.
const sealedBytes = (domain: string, challenge: string): Uint8Array =>
  new TextEncoder().encode(`link domain ${domain} ${challenge}`)

/** Proves that a request for a domain reached this deployment: the key's mark and a seal of domain and challenge, in base64url. */
export const proveLinkDomain = ({ mark, seal }: TrackingSeal["Service"], domain: string, challenge: string): string =>
  Base64Url.encode(Uint8Array.of(mark, ...seal(sealedBytes(domain, challenge))))

/** Returns whether text is this deployment's proof for a domain and a challenge. */
export const isLinkDomainProof = (
  { isSealed }: TrackingSeal["Service"],
  proof: string,
  { domain, challenge }: { readonly domain: string; readonly challenge: string },
): boolean => {
  const bytes = Result.getOrUndefined(Base64Url.decode(proof))
  return bytes?.length === 17 && isSealed(sealedBytes(domain, challenge), bytes.subarray(1), bytes[0]!)
}
