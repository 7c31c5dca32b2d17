import { spawn } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"

/** Starts a service that logs a megabyte, and returns what it says at the end. */
const logMuch = async (output: "pipe" | number): Promise<{ readonly count: number; readonly waiting: number }> => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("./run/logsMuch.ts"))], {
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
    stdio: ["ignore", output, "pipe"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const said = text(child.stderr!)
  if (output !== "pipe") await once(child, "exit")
  // The child ends once its output is read.
  else child.stderr!.once("data", () => child.stdout!.resume())
  return JSON.parse(await said)
}

describe("boundedLog", () => {
  it("doesn't block while no one reads the log, limits its buffer, and counts dropped entries", async () => {
    const { count, waiting } = await logMuch("pipe")
    expect(count).toBeGreaterThan(500)
    expect(waiting).toBeLessThan(200_000)
  })

  it.skipIf(process.platform !== "linux")(
    "goes on when the disk of the log is full, and counts what is lost",
    async () => {
      expect((await logMuch(openSync("/dev/full", "w"))).count).toBeGreaterThanOrEqual(2000)
    },
  )
})
