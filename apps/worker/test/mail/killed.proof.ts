import { EventEmitter, once } from "node:events"
import { connect, createServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { listen } from "@outreach/testing/listen"
import { partner } from "@outreach/testing/partner"
import { sql } from "@outreach/testing/sql"
import { until } from "@outreach/testing/until"
import { SMTPServer } from "smtp-server"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, launch, kill, endLeases } = journey()

const PHASES = ["before MAIL", "after RCPT", "in DATA", "after the dot, before the answer"] as const
type Phase = (typeof PHASES)[number]

/** Starts a mail server that calls back once when a session reaches a phase, and waits for it. Stores completely received messages. */
const startServer = async (phase: Phase, atPhase: () => Promise<unknown>) => {
  const messages: Array<string> = []
  let isDone = false
  const reach = async (reached: Phase) => {
    if (reached !== phase || isDone) return
    isDone = true
    await atPhase()
  }
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onConnect: (_, done) => void reach("before MAIL").then(() => done()),
    onRcptTo: (_, __, done) => void reach("after RCPT").then(() => done()),
    onData: (stream, _, done) => {
      const read = async () => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => {
          chunks.push(chunk)
          void reach("in DATA")
        })
        await once(stream, "end")
        messages.push(Buffer.concat(chunks).toString())
        await reach("after the dot, before the answer")
      }
      read().then(() => done(), done)
    },
  })
  server.on("error", () => {})
  const port = await listen(server.server)
  return { url: `smtp://127.0.0.1:${phase === "in DATA" ? await passBeginning(port) : port}`, messages }
}

/** Starts a proxy that passes the first 20,000 bytes of its first connection, and all of later ones: the kernel would buffer the rest for the server. */
const passBeginning = (port: number): Promise<number> => {
  let left = 20_000
  const proxy = createServer((client) => {
    const isFirst = left === 20_000
    const upstream = connect(port, "127.0.0.1")
    upstream.pipe(client)
    client.on("data", (bytes) => {
      upstream.write(isFirst ? bytes.subarray(0, left) : bytes)
      if (isFirst) left = Math.max(0, left - bytes.length)
    })
    client.on("close", () => upstream.destroy())
    for (const socket of [client, upstream]) socket.on("error", () => {})
  })
  return listen(proxy)
}

/** Several times larger than the bytes that the proxy passes. */
const LARGE = `<p>${"Good morning. ".repeat(15_000)}</p>`

/** All phases take half a minute. The last one repeats a message. */
const phases = process.env["PROVE_MAIL"] === "1" ? PHASES : PHASES.slice(-1)

describe("a message of a worker that is killed", () => {
  it.each(phases)("%s is sent by another worker, and at most once more", async (phase) => {
    const to = await partner()
    const steps = new EventEmitter()
    const reached = once(steps, "reached")
    const killed = once(steps, "killed")
    const server = await startServer(phase, () => {
      steps.emit("reached")
      return killed
    })
    const { campaign } = await launch(to, 1)
    await run(sql`update campaigns set html = html || ${LARGE} where id = ${campaign.id}`)
    const first = await startWorker(url(), { SMTP_URL: server.url })
    await reached
    await kill(first)
    steps.emit("killed")
    expect(await run(sql`select sent_at from recipients where campaign_id = ${campaign.id}`)).toEqual([
      { sent_at: null },
    ])

    await endLeases()
    await startWorker(url(), { SMTP_URL: server.url })
    const sent = () => to.received.filter(({ event }) => event.event_type === "outreach.email_sent")
    await until(to, () => sent().length > 0)
    const ids = server.messages.map((text) => /^Message-ID: (.*)$/m.exec(text)?.[1])
    const copies = phase === "after the dot, before the answer" ? 2 : 1
    expect(ids).toEqual(Array.from({ length: copies }, () => ids[0]))
    expect(ids[0]).toMatch(/^<rcp_[0-9a-f]{32}@acme\.test>$/)
    expect(sent()).toHaveLength(1)
    expect(await run(sql`select from messages where campaign_id = ${campaign.id}`)).toEqual([])
  })
})
