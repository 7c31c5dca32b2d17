import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { processToken } from "@outreach/embedded-postgres/processToken"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { runService } from "../src/runService.ts"

const main = import.meta.resolve("./service.case.ts")

it("restarts a killed service, reports it, and leaves no process when it is interrupted", async () => {
  const log = join(temporaryFolder("sandbox"), "worker.log")
  const pidsOf = async (count: number) => {
    const read = async () => [...(await readFile(log, "utf8").catch(() => "")).matchAll(/^started (\d+)$/gm)]
    return (await eventually(read, ({ length }) => length === count)).map(([, pid]) => Number(pid))
  }
  const restarts: Array<string> = []
  const onRestart = (description: string) => void restarts.push(description)
  const killFirst = Effect.promise(async () => {
    const [first] = await pidsOf(1)
    process.kill(first!, "SIGKILL")
    await pidsOf(2)
  })
  await Effect.runPromise(Effect.raceFirst(runService("worker", { main, environment: {}, log, onRestart }), killFirst))
  expect(restarts).toEqual(["worker ended (SIGKILL), restarted"])
  expect(await Promise.all((await pidsOf(2)).map(processToken))).toEqual([undefined, undefined])
})

it("fails with the last output of a service that exits with an error", async () => {
  const log = join(temporaryFolder("sandbox"), "worker.log")
  const service = runService("worker", { main, environment: { ENDS: "1" }, log, onRestart: () => {} })
  const { message } = await Effect.runPromise(Effect.flip(service))
  expect(message).toMatch(/^The worker has ended\. Its last output, in .*worker\.log:\nstarted \d+$/)
})
