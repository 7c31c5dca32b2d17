import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { replays as replayList } from "@outreach/backoffice/lists/replays"
import { cancelReplay } from "@outreach/backoffice/operations/replays"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { ReplayId } from "@outreach/domain/Identifier"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { followReplay, formatReplay } from "../deadLetters/followReplay.ts"
import { onlySwitch } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument } from "../operationCommand.ts"
import { print } from "../output/Output.ts"

const show = reading({
  about: "Show a replay: its items and its progress",
  examples: ["ops replays show rpl_…", "ops replays show rpl_… --follow"],
  input: {
    replayId: idArgument("replayId", ReplayId),
    follow: onlySwitch("Show the progress until it ends; Ctrl-C leaves it running"),
  },
  *run({ replayId, follow }) {
    const job = yield* ReplayJobQueue.use(({ find }) => find(replayId))
    if (!follow) return job
    const ended = yield* followReplay(job)
    return yield* print(ended, () => formatReplay(ended))
  },
})

export const replays = group({
  about: "Dead letters and events that the workers deliver again",
  commands: { list: listCommand(replayList), show, cancel: command(cancelReplay, { format: formatReplay }) },
  services: Layer.merge(ReplayJobQueuePg, ReplayReader.layer),
})
