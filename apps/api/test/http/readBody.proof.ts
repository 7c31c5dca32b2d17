import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { platform } from "node:os"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { urlIn } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { startApiProcess } from "../startApiProcess.ts"

const MEBIBYTE = 1_048_576
const BODIES = 500
const ALL_BUT_ONE_BYTE = Buffer.alloc(MEBIBYTE - 1, " ")

/** Reads a line of /proc/<pid>/status, in MiB. */
const memory = (pid: number, line: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]) / 1024

describe.skipIf(platform() !== "linux").each([
  { which: "an unknown endpoint", kept: 0, maxGrowth: 96 },
  // Bodies within the limit are kept. About 64 KiB of each other body are garbage until collected: 103 to 131 MiB in total were observed.
  { which: "a known endpoint", kept: 16, maxGrowth: 192 },
])(`${BODIES} bodies of 1 MiB to $which, of which the last byte never comes`, ({ which, kept, maxGrowth }) => {
  const databaseUrl = migratedDatabase()

  it(`use at most ${maxGrowth} MiB, and the service stays available`, async () => {
    const { endpoint } = await Effect.runPromise(
      Effect.provide(seedCampaign({ recipients: 0 }), adaptersFor(databaseUrl())),
    )
    const process = startApiProcess(databaseUrl())
    const url = urlIn(await until(process, "listening"))
    const pid = process.child.pid!
    const path = `/v1/partners/consumer/webhooks/${which === "a known endpoint" ? endpoint.id : "whe_0199"}`
    for (let i = 0; i < 100; i++) await fetch(url + path, { method: "POST", body: "{}" })
    const before = memory(pid, "VmRSS")

    const statuses: Array<string> = []
    const sockets = await new Promise<ReadonlyArray<ReturnType<typeof connect>>>((resolve) => {
      const opened = Array.from({ length: BODIES }, () => {
        let status = ""
        const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" })
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${MEBIBYTE}\r\n\r\n`)
        socket.write(ALL_BUT_ONE_BYTE)
        return socket
          .on("data", (chunk) => {
            status ||= chunk.toString("latin1", 9, 12)
          })
          .on("error", () => {})
          .on("close", () => {
            if (statuses.push(status) === BODIES - kept) resolve(opened)
          })
      })
    })
    const growth = memory(pid, "VmHWM") - before
    for (const socket of sockets) socket.destroy()

    console.log(`${which}: ${growth.toFixed(1)} MiB more`)
    expect(new Set(statuses)).toEqual(new Set([kept > 0 ? "503" : "401"]))
    expect(growth).toBeLessThanOrEqual(maxGrowth)
    expect((await fetch(`${url}/v1/health`)).status).toBe(200)
  })
})
