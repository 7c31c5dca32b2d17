import { deadLetters as deadLetterList } from "@outreach/backoffice/lists/deadLetters"
import { checkEndpoint, removeDeadLetters, replayDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { group } from "../group.ts"
import { listCommand } from "../listCommand.ts"

export const deadLetters = group(
  "dead-letters",
  "Deliveries that were rejected, ran out of attempts, or crashed several workers",
  [listCommand(deadLetterList, { whenEmpty: checkEndpoint }), replayDeadLetters, removeDeadLetters],
)
