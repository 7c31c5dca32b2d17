import { connect, createServer } from "node:net"
import { pipeline } from "node:stream"
import { listen } from "@outreach/testing/listen"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, url } = commandLine()

/** Runs a command over a connection that is lost when it has sent a text for the first time. */
const runLosing = async (text: string, ...args: ReadonlyArray<string>) => {
  const { hostname, port } = new URL(url())
  let lost = 0
  const proxy = createServer((socket) => {
    socket.on("data", (chunk) => {
      if (lost === 0 && chunk.includes(text) && ++lost) socket.destroy()
    })
    pipeline(socket, connect(Number(port), hostname), socket, () => {})
  })
  const through = new URL(url())
  through.host = `127.0.0.1:${await listen(proxy)}`
  const { code, stderr } = await run(args, { DATABASE_URL: through.href })
  return { code, stderr, lost }
}

it("connects again if its first connection is lost", async () => {
  expect(await runLosing("", "organizations", "list")).toEqual({ code: 0, stderr: "", lost: 1 })
})

it("fails with one sentence if a later connection is lost", async () => {
  const { code, stderr } = await runLosing("from organizations", "organizations", "list")
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+ failed in the database [^\n]+\.\n$/)])
})
