import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { reservePort } from "@outreach/testing/reservePort"
import { describe, expect, it, onTestFinished } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { startPostfix } from "./startPostfix.ts"

const { url, launch, query } = journey()
const postfix = findInstalled("postfix")
const postgrey = findInstalled("postgrey")

/** Starts postgrey, which keeps whoever it does not know waiting for some seconds, until the test is finished; returns its port. */
const startPostgrey = async (program: string, ...options: ReadonlyArray<string>) => {
  const port = await reservePort()
  const folder = mkdtempSync(join(tmpdir(), "postgrey-"))
  const child = spawn(
    program,
    [
      ...[`--inet=127.0.0.1:${port}`, `--dbdir=${folder}`, "--user=root", "--group=root"],
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
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
      socket.on("close", () => socket.destroy()).end()
    })
  await eventually(answers, (up) => up || child.exitCode !== null)
  return port
}

/** Sends a message through a postfix that asks postgrey. */
const sendThrough = async (postfixProgram: string, postgreyPort: number) => {
  const port = await reservePort()
  const server = await startPostfix(postfixProgram, port, {
    mynetworks: "127.0.0.0/8",
    smtpd_recipient_restrictions: `check_policy_service inet:127.0.0.1:${postgreyPort}, permit_mynetworks, reject`,
    notify_classes: "",
  })
  const to = await partner()
  const { campaign } = await launch(to, 1)
  const worker = await startWorker(url(), { SMTP_URL: `smtp://127.0.0.1:${port}` })
  const refusals = () => server.readLog().match(/^.*NOQUEUE: reject: RCPT.*$/gm) ?? []
  return { server, to, campaign, worker, refusals }
}

describe.skipIf("missing" in postfix || "missing" in postgrey)("a message that postgrey puts off", () => {
  it("waits for as long as it says, and is accepted then, delivered and recorded once", async () => {
    if ("missing" in postfix || "missing" in postgrey) return
    const greylist = await startPostgrey(postgrey.program, "--delay=5", "--greylist-text=Greylisted for %s seconds")
    const { server, to, refusals } = await sendThrough(postfix.program, greylist)
    const sent = () => to.received.filter(({ event }) => event.event_type === "outreach.email_sent")
    await eventually(sent, ({ length }) => length > 0)
    await eventually(server.readMailbox, ({ length }) => length > 0)
    // Whoever comes too early is refused once more.
    expect(refusals()).toEqual([expect.stringMatching(/450 4\.2\.0 .*Greylisted for 5 seconds/)])
    expect(server.readMailbox()).toHaveLength(1)
    expect(sent()).toHaveLength(1)
    expect(await query((sql) => sql`select from messages`)).toEqual([])
    expect(
      await query((sql) => sql`select from recipients where sent_at is not null and bounced_at is null`),
    ).toHaveLength(1)
  })

  it("waits for the five minutes that are usual where it says nothing", async () => {
    if ("missing" in postfix || "missing" in postgrey) return
    const { campaign, refusals } = await sendThrough(postfix.program, await startPostgrey(postgrey.program))
    const waits = () =>
      query<{ attempts: number; seconds: number }>(
        (sql) => sql`
          select attempts, round(extract(epoch from due_at - clock_timestamp()))::int as seconds from messages
          where campaign_id = ${campaign.id} and attempts > 0`,
      )
    const [message] = await eventually(waits, ({ length }) => length > 0)
    expect(refusals()).toEqual([expect.stringMatching(/450 4\.2\.0 .*Greylisted, see/)])
    expect(message!.attempts).toBe(1)
    // A second more than postgrey's default, less what has passed since.
    expect(message!.seconds).toBeGreaterThan(200)
    expect(message!.seconds).toBeLessThanOrEqual(301)
  })
})
