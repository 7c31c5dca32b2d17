import { ownerOf, revokeSecret, rotateSecret, secretOwner } from "@outreach/backoffice/operations/secrets"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { secretSummaries, signingSecrets } from "../secretCipher.ts"

const list = reading({
  about:
    "List the signing secrets of an organization with those of its endpoints, or of one endpoint, newest first; without their text",
  examples: ["ops secrets list --organization org_…", "ops secrets list --endpoint whe_…"],
  input: inputsOf(secretOwner),
  *run(given) {
    const owner = yield* ownerOf(given)
    return yield* SigningSecretRepository.use(({ list }) => list(owner))
  },
  columns: ["id", "endpointId", "createdAt", "expiresAt", "lastVerifiedAt"],
  services: secretSummaries,
})

export const secrets = group({
  about: "The secrets that sign webhooks",
  commands: {
    rotate: command(rotateSecret, { services: signingSecrets }),
    list,
    revoke: command(revokeSecret, { services: Layer.merge(secretSummaries, OrganizationReader.layer) }),
  },
})
