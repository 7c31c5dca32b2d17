import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"

const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64")

const start = (env: Record<string, string>): ChildProcess => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("./run/waits.ts"))], {
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], SECRETS_KEY, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  onTestFinished(() => {
    child.kill("SIGKILL")
  })
  return child
}

const outcome = async (child: ChildProcess) => {
  const [output, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit") as Promise<[number | null]>,
  ])
  return { output, stderr, code }
}

describe("runProcess", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("closes what it holds on %s and exits with 0", async (signal) => {
    const child = start({})
    const lines: Array<Record<string, unknown>> = []
    const exited = once(child, "exit")
    for await (const line of createInterface({ input: child.stdout! })) {
      lines.push(JSON.parse(line))
      if (lines.length === 1) child.kill(signal)
    }
    expect(lines.map(({ message, level }) => [message, level])).toEqual([
      ["waiting", "INFO"],
      ["closed", "INFO"],
    ])
    expect(await exited).toEqual([0, null])
  })

  it("exits with 1 and prints only the error message when a setting is missing", async () => {
    expect(await outcome(start({ SECRETS_KEY: "" }))).toEqual({
      output: "",
      stderr:
        "SECRETS_KEY is not set. It must be 32 random bytes in base64, as `openssl rand -base64 32` makes them, or up to 8 such keys as id:key, newest first, with commas or line breaks between them.\n",
      code: 1,
    })
  })

  it("exits with 1 and prints the error on any other failure", async () => {
    const { output, stderr, code } = await outcome(start({ DEPLOYMENT: "staging" }))
    expect(code).toBe(1)
    expect(output + stderr).toContain("staging is down")
  })
})
