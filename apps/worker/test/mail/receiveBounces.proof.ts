import { existsSync, readFileSync } from "node:fs"
import { RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { smtpDialogue } from "../smtpDialogue.ts"
import { startWorker } from "../startWorker.ts"

const url = migratedDatabase()
const MIB = 1024 * 1024

/** Reads a field of Linux's account of a process's memory, in bytes. */
const memory = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

it.skipIf(!existsSync("/proc/self/status"))(
  "a bounce of 400 MB takes less than 64 MB of the worker's memory",
  async () => {
    const worker = await startWorker(url(), { BOUNCE_SMTP_PORT: "0" })
    const { child } = worker
    const log = await eventually(
      () => worker.text,
      (text) => text.includes("receiving bounces"),
    )
    const { port } = JSON.parse(log.split("\n").find((line) => line.includes("receiving bounces"))!).annotations
    const returnPaths = await Effect.runPromise(
      ReturnPaths.pipe(Effect.provide(ReturnPaths.at("acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING))))),
    )
    const to = returnPaths.of(RecipientId.make(`rcp_${"0".repeat(32)}`))
    const envelope = ["EHLO relay.test", "MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA"]
    const before = memory(child.pid!, "VmRSS")
    const line = Buffer.from(`${"x".repeat(78)}\r\n`)
    const piece = Buffer.concat(Array(1024).fill(line))
    const pieces = function* () {
      for (let sent = 0; sent < 400 * MIB; sent += piece.length) yield piece
      yield "\r\n.\r\n"
    }
    const replies = await smtpDialogue(port, envelope, pieces())
    const growth = memory(child.pid!, "VmHWM") - before
    console.log(`the worker's memory: ${Math.round(before / MIB)} MiB, grown by ${(growth / MIB).toFixed(1)} MiB`)
    // 17 to 35 MB in practice: the engine's young generation grows while the pieces pass through it, more so on a busy machine.
    expect(growth).toBeLessThan(64 * 1_000_000)
    expect(replies.at(-1)).toMatch(/^552 5\.3\.4 /)
  },
)
