import { secrets as secretList } from "@outreach/backoffice/lists/secrets"
import { revokeSecret, rotateSecret } from "@outreach/backoffice/operations/secrets"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { Layer } from "effect"
import { group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"
import { secretSummaries, signingSecrets } from "../secretCipher.ts"

export const secrets = group({
  about: "The secrets that sign webhooks",
  commands: {
    rotate: command(rotateSecret, { services: signingSecrets }),
    list: listCommand(secretList, { services: secretSummaries }),
    revoke: command(revokeSecret, { services: Layer.merge(secretSummaries, OrganizationReader.layer) }),
  },
})
