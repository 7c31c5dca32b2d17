import { secrets as secretList } from "@outreach/backoffice/lists/secrets"
import { revokeSecret, rotateSecret } from "@outreach/backoffice/operations/secrets"
import { group } from "../group.ts"

export const secrets = group("secrets", "The secrets that sign webhooks", [rotateSecret, secretList, revokeSecret])
