import { removeLinkDomain } from "@outreach/backoffice/operations/senders"
import { group } from "../group.ts"

export const linkDomains = group("link-domains", "The domains of tracked links", [removeLinkDomain])
