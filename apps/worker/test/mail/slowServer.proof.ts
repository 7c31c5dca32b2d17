import { findInstalled } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { reservePort } from "@outreach/testing/reservePort"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { startPostfix } from "./startPostfix.ts"

const { url, launch, query } = journey()
const postfix = findInstalled("postfix")

describe.skipIf("missing" in postfix)("a message to a postfix that sleeps for 40 s after the final dot", () => {
  it("is sent once, is recorded as sent, and lies in the mailbox once", { timeout: 600_000 }, async () => {
    if ("missing" in postfix) return
    const port = await reservePort()
    const server = await startPostfix(postfix.program, port, { smtpd_end_of_data_restrictions: "sleep 40" })
    const to = await partner()
    const { campaign } = await launch(to, 1)
    const worker = await startWorker(url(), { SMTP_URL: `smtp://127.0.0.1:${port}` })

    // Postfix accepts a message before it delivers it and writes its log later still, so all three are waited for. Two copies end the
    // wait as well, so that a failure shows at once.
    const unsent = () =>
      query((sql) => sql`select from recipients where campaign_id = ${campaign.id} and sent_at is null`)
    const delivered = () => server.readLog().match(/^.*status=sent.*$/gm) ?? []
    await eventually(
      async () =>
        delivered().length > 1 ||
        (delivered().length === 1 && server.readMailbox().length > 0 && (await unsent()).length === 0),
      (over) => over,
      300_000,
    )
    process.stderr.write(`${delivered().join("\n")}\n`)
    expect(delivered()).toHaveLength(1)
    expect(server.readMailbox()).toHaveLength(1)
    expect(await unsent()).toEqual([])
    expect(worker.text).not.toContain("lost before it was settled")
  })
})
