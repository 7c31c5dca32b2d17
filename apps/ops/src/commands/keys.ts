import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { command } from "../operationCommand.ts"

const list = reading({
  about: "List an organization's API keys, oldest first, without their text",
  input: { organizationId },
  run: ({ organizationId }) => ApiKeyRepository.use(({ list }) => list(organizationId)),
  columns: ["id", "name", "prefix", "lastFour", "scopes", "createdAt", "lastUsedAt", "expiresAt", "revokedAt"],
})

export const keys = group({
  about: "The partners' API keys",
  commands: { create: command(createKey), list, rotate: command(rotateKey), revoke: command(revokeKey) },
  services: Layer.mergeAll(ApiKeyRepositoryPg, OrganizationReader.layer),
})
