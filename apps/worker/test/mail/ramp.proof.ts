import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSender } from "@outreach/domain/senders/Senders"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, launch, kill, endLeases, run, query } = journey()

it("holds a sender to its ramp while workers are killed again and again", async () => {
  const mail = await mailServer()
  const { organization } = await launch(await partner(), 1100)
  const sender = await run(
    Effect.gen(function* () {
      const added = yield* addSender(
        { organizationId: organization.id, from: { name: "", address: "outreach@new.test" }, ramp: "400,600" },
        { ...(yield* generateDkimKeyPair), selector: "s1" },
        null,
      )
      return yield* (yield* SenderRepository).activate(added.id)
    }),
  )
  const ramp = () => run(SenderRepository.use(({ find }) => find(sender.id))).then((found) => found.ramp!)
  const leases = () => query((sql) => sql`select from messages where lease_until > clock_timestamp()`)
  const isOver = async () => {
    const { sentToday, allowedToday } = await ramp()
    return sentToday === allowedToday && (await leases()).length === 0
  }
  const sentOn: Array<number> = []
  let kills = 0
  for (const allowed of [400, 600]) {
    const before = mail.messages.length
    expect(await ramp()).toMatchObject({ allowedToday: allowed, sentToday: 0 })
    while (!(await isOver())) {
      const enough = mail.messages.length + 60
      const worker = await startWorker(url(), { SMTP_URL: mail.url })
      await eventually(
        async () => mail.messages.length >= enough || (await isOver()),
        (isTime) => isTime,
      )
      await kill(worker)
      kills += 1
      await endLeases()
    }
    // Two workers look at what the others have left, and take nothing of it.
    const workers = await Promise.all([1, 2].map(() => startWorker(url(), { SMTP_URL: mail.url })))
    await endLeases()
    await eventually(
      () => query((sql) => sql`select from campaign_turns where next_at > clock_timestamp()`),
      ({ length }) => length === 1,
    )
    await Promise.all(workers.map(kill))
    expect(await leases()).toEqual([])
    sentOn.push(mail.messages.length - before)
    await query((sql) => sql`update sender_ramps set counted_on = counted_on - 1`)
    await endLeases()
  }
  console.log(`${kills} workers were killed, and sent ${sentOn.join(" and ")} messages on days of 400 and 600`)
  for (const [i, allowed] of [400, 600].entries()) {
    expect(sentOn[i]).toBeGreaterThan(0)
    expect(sentOn[i]).toBeLessThanOrEqual(allowed)
  }
})
