import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import type { TrackingSeal } from "../hits/TrackingLinks.ts"

/** The path under which a link domain proves that this deployment serves it; a challenge follows. */
export const LINK_DOMAIN_PROOF_PATH = "/.well-known/outreach-link-domain/"

/** A challenge, which is new for each proof: 16 to 48 bytes in base64url. */
export const isLinkDomainChallenge = (text: string): boolean => /^[\w-]{22,64}$/.test(text)

// No tracked link and no return path begins with these bytes, so that no seal is good for another.
const sealedBytes = (domain: string, challenge: string): Uint8Array =>
  new TextEncoder().encode(`link domain ${domain} ${challenge}`)

/** Proves that a request for a domain has reached this deployment with its name: a seal over both, with the mark of its key before it, in base64url. */
export const proveLinkDomain = ({ mark, seal }: TrackingSeal["Service"], domain: string, challenge: string): string =>
  Base64Url.encode(Uint8Array.of(mark, ...seal(sealedBytes(domain, challenge))))

/** Reports whether a text is the proof of this deployment for a domain and a challenge. */
export const isLinkDomainProof = (
  { isSealed }: TrackingSeal["Service"],
  proof: string,
  { domain, challenge }: { readonly domain: string; readonly challenge: string },
): boolean => {
  const bytes = Result.getOrUndefined(Base64Url.decode(proof))
  return bytes?.length === 17 && isSealed(sealedBytes(domain, challenge), bytes.subarray(1), bytes[0]!)
}
