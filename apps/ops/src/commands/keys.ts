import { keys as keyList } from "@outreach/backoffice/lists/keys"
import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { Layer } from "effect"
import { group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"

export const keys = group({
  about: "The partners' API keys",
  commands: {
    create: command(createKey),
    list: listCommand(keyList),
    rotate: command(rotateKey),
    revoke: command(revokeKey),
  },
  services: Layer.mergeAll(ApiKeyRepositoryPg, OrganizationReader.layer),
})
