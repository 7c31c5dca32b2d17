import { removeLinkDomain } from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { Layer } from "effect"
import { group } from "../Declaration.ts"
import { command } from "../operationCommand.ts"
import { senderRepository } from "../secretCipher.ts"

export const linkDomains = group({
  about: "The domains of tracked links",
  commands: { remove: command(removeLinkDomain) },
  services: Layer.merge(senderRepository, OrganizationReader.layer),
})
