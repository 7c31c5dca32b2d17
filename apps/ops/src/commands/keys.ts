import { keys as keyList } from "@outreach/backoffice/lists/keys"
import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { group } from "../group.ts"

export const keys = group("keys", "The partners' API keys", [createKey, keyList, rotateKey, revokeKey])
