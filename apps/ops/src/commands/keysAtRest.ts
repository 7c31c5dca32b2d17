import { keysAtRest as keysAtRestList } from "@outreach/backoffice/lists/keysAtRest"
import { resealKeys } from "@outreach/backoffice/operations/keysAtRest"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { listCommand } from "../listCommand.ts"
import { uncheckedCipher } from "../secretCipher.ts"

const services = { services: uncheckedCipher }

export const keysAtRest = group("keys-at-rest", "The keys of SECRETS_KEY, which encrypt what is stored", [
  listCommand(keysAtRestList, services),
  command(resealKeys, services),
])
