import { spawn } from "node:child_process"
import { once } from "node:events"
import { expect, it } from "vitest"
import { hasEnded, thisProcess } from "../src/thisProcess.ts"

it.runIf(process.platform === "linux")("knows which processes of this host have ended", async () => {
  const module = import.meta.resolve("../src/thisProcess.ts")
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { thisProcess } from ${JSON.stringify(module)}; console.log(thisProcess); setInterval(() => {}, 1000)`,
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const name = line.toString().trim()
  expect(name).not.toBe(thisProcess)
  expect([hasEnded(thisProcess!), hasEnded(name)]).toEqual([false, false])
  child.kill("SIGKILL")
  await once(child, "exit")
  expect(hasEnded(name)).toBe(true)
  // Of another host, or a later process with the same id.
  expect(hasEnded(name.replace(/^[^ ]+/, "elsewhere"))).toBe(false)
  expect(hasEnded(thisProcess!.replace(/\d+$/, "1"))).toBe(true)
})
