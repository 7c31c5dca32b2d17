import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { deadLetters as deadLetterList } from "@outreach/backoffice/lists/deadLetters"
import { checkEndpoint, removeDeadLetters, replayDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { DeadLetterRepositoryPg } from "@outreach/postgres/deliveries/DeadLetterRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Layer } from "effect"
import { group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"

export const deadLetters = group({
  about: "Deliveries that were rejected, ran out of attempts, or crashed several workers",
  commands: {
    list: listCommand(deadLetterList, { whenEmpty: checkEndpoint }),
    replay: command(replayDeadLetters),
    remove: command(removeDeadLetters),
  },
  services: Layer.mergeAll(
    ...[DeadLetterReader.layer, DeliveryReader.layer, DeadLetterRepositoryPg, EndpointRepositoryPg, ReplayJobQueuePg],
  ),
})
