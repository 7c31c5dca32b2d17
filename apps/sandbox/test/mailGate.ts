import { mailServer } from "@outreach/testing/mailServer"
import { Changes, until } from "@outreach/testing/until"

/**
 * Starts a mail server that accepts messages only in limited batches, so that a test can act in the middle of a campaign.
 *
 * @param isGated - whether a message is limited. Default: each.
 */
export const mailGate = async (isGated: (message: { readonly to: ReadonlyArray<string> }) => boolean = () => true) => {
  const gate = { changes: new Changes() }
  let turns = 0
  let limit = 0
  const mail = await mailServer(undefined, async (message) => {
    if (!isGated(message)) return
    const turn = turns++
    await until(gate, () => limit > turn, { withinMs: 600_000 })
  })
  return {
    ...mail,
    /** Accepts this number of further messages. Default: all. */
    accept: (count = Number.POSITIVE_INFINITY): void => {
      limit += count
      gate.changes.announce()
    },
  }
}
