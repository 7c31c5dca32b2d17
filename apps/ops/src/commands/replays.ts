import { replays as replayList } from "@outreach/backoffice/lists/replays"
import { cancelReplay, showReplay } from "@outreach/backoffice/operations/replays"
import { Effect } from "effect"
import { command, withRun } from "../command.ts"
import { followReplay, formatReplay } from "../deadLetters/followReplay.ts"
import { group } from "../group.ts"
import { print } from "../output/Output.ts"

const show = withRun(
  showReplay,
  Effect.fnUntraced(function* (input, operator) {
    const job = yield* showReplay.run(input, operator)
    if (!input.follow) return job
    const ended = yield* followReplay(job)
    return yield* print(ended, () => formatReplay(ended))
  }),
)

export const replays = group("replays", "Dead letters and events that the workers deliver again", [
  replayList,
  show,
  command(cancelReplay, { format: formatReplay }),
])
