import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { partner } from "@outreach/testing/partner"
import { until } from "@outreach/testing/until"
import { describe, expect, it, onTestFinished } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { untilListening } from "./startExim.ts"
import { startPostfix } from "./startPostfix.ts"

const { url, launch, query } = journey()
const postfix = findInstalled("postfix")
const postgrey = findInstalled("postgrey")

/** Starts postgrey, which delays unknown clients by some seconds, until the test is finished. Returns its address. */
const startPostgrey = async (program: string, ...options: ReadonlyArray<string>) => {
  const address = { host: loopbackAddress(), port: 10_023 }
  const folder = mkdtempSync(join(tmpdir(), "postgrey-"))
  const child = spawn(
    program,
    [
      ...[`--inet=${address.host}:${address.port}`, `--dbdir=${folder}`, "--user=root", "--group=root"],
      ...["--whitelist-clients=/dev/null", "--whitelist-recipients=/dev/null", ...options],
    ],
    { stdio: "ignore" },
  )
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGTERM")
    await ended
    rmSync(folder, { recursive: true, force: true, maxRetries: 50 })
  })
  await untilListening(address, child)
  return `${address.host}:${address.port}`
}

describe.skipIf("missing" in postfix || "missing" in postgrey)("a message that postgrey puts off", () => {
  it("waits as long as requested, and is then accepted, delivered and recorded once", async () => {
    if ("missing" in postfix || "missing" in postgrey) return
    const greylist = await startPostgrey(postgrey.program, "--delay=3", "--greylist-text=Greylisted for %s seconds")
    const server = await startPostfix(postfix.program, {
      mynetworks: "127.0.0.0/8",
      smtpd_recipient_restrictions: `check_policy_service inet:${greylist}, permit_mynetworks, reject`,
      notify_classes: "",
    })
    const to = await partner()
    await launch(to, 1)
    await startWorker(url(), { SMTP_URL: server.url })
    const sent = () => to.received.filter(({ event }) => event.event_type === "outreach.email_sent")
    await until(to, () => sent().length > 0)
    await eventually(server.readMailbox, ({ length }) => length > 0)
    // Earlier attempts are rejected again.
    const refusals = server.readLog().match(/^.*NOQUEUE: reject: RCPT.*$/gm)
    expect(refusals).toEqual([expect.stringMatching(/450 4\.2\.0 .*Greylisted for 3 seconds/)])
    expect(server.readMailbox()).toHaveLength(1)
    expect(sent()).toHaveLength(1)
    expect(await query((sql) => sql`select from messages`)).toEqual([])
    expect(
      await query((sql) => sql`select from recipients where sent_at is not null and bounced_at is null`),
    ).toHaveLength(1)
  })
})
