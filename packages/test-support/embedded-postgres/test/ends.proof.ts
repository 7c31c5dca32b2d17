import { spawn } from "node:child_process"
import { mkdir, readlink, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { serverUser } from "../src/paths.ts"
import { isRunning } from "../src/processToken.ts"
import { startPostgres } from "../src/startPostgres.ts"
import { cluster, isPostgres, left } from "./cluster.ts"
import { query } from "./query.ts"
import { startParent } from "./startParent.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const within = { timeout: 10_000 }

test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "nothing is left after %s of the parent",
  async (signal) => {
    const parent = await startParent()
    const running = await cluster(parent.url)
    await parent.end(signal)
    await expect.poll(() => left(running), within).toEqual([])
  },
)

test("no process or folder is left after an uncaught exception", async () => {
  const parent = await startParent()
  const running = await cluster(parent.url)
  parent.process.stdin.write("throw\n")
  await expect.poll(() => left(running), within).toEqual([])
})

test("a persistent server stops with its parent and leaves the data", async () => {
  const dataDirectory = await temporaryFolder()
  const parent = await startParent({ dataDirectory })
  const running = await cluster(parent.url)
  await parent.end("SIGKILL")
  await expect.poll(() => left(running), within).toEqual(["folder"])
})

test("a start just after kill -9 of the parent waits for the supervisor to finish", async () => {
  const dataDirectory = await temporaryFolder()
  const parent = await startParent({ dataDirectory })
  await query(parent.url, "create table kept as select 7 as seven")
  await parent.end("SIGKILL")
  const next = await startPostgres({ dataDirectory })
  onTestFinished(next.stop)
  expect(await query(next.url, "select seven from kept")).toEqual([{ seven: 7 }])
})

test("the next start removes a temporary cluster if its supervisor was killed as well", async () => {
  // A separate folder, because the start of another run would clean up, too.
  vi.stubEnv("TMPDIR", await temporaryFolder())
  const parent = await startParent()
  const running = await cluster(parent.url)
  process.kill(Number.parseInt(basename(running.folder).replace("outreach-postgres-run-", ""), 10), "SIGKILL")
  await parent.end("SIGKILL")
  expect(await left(running)).toEqual(["folder", "process"])
  // In parallel, as test runs start.
  const next = await Promise.all([startPostgres(), startPostgres()])
  expect(await left(running)).toEqual([])
  await Promise.all(next.map((postgres) => postgres.stop()))
})

test("the next start stops a persistent server if its supervisor was killed as well, and replaces it", async () => {
  const dataDirectory = await temporaryFolder()
  const parent = await startParent({ dataDirectory })
  const running = await cluster(parent.url)
  process.kill(Number.parseInt(await readlink(join(dataDirectory, "claim")), 10), "SIGKILL")
  await parent.end("SIGKILL")
  const next = await startPostgres({ dataDirectory })
  onTestFinished(next.stop)
  expect(await isPostgres(running.postmaster)).toBe(false)
  expect((await cluster(next.url)).data).toBe(running.data)
})

test("a stranger that has the number of a dead server is spared", async () => {
  const dataDirectory = await temporaryFolder()
  const first = await startPostgres({ dataDirectory })
  const { data } = await cluster(first.url)
  await first.stop()
  // Owned by the server's user, because another user's process couldn't be stopped anyway.
  const stranger = spawn("sleep", ["600"], serverUser())
  onTestFinished(() => void stranger.kill())
  await writeFile(join(data, "postmaster.pid"), `${stranger.pid}\n${data}\n1\n1\n\n127.0.0.1\n0 0\nready\n`)
  const second = await startPostgres({ dataDirectory })
  await second.stop()
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
})

test("a supervisor counts as dead if its process id was reused", async () => {
  const reused = `${process.pid}.000000000000`
  expect(await isRunning(reused)).toBe(false)
  const first = await startPostgres()
  const root = dirname((await cluster(first.url)).folder)
  await first.stop()
  const stale = join(root, `outreach-postgres-run-${reused}`)
  await mkdir(join(stale, "data"), { recursive: true })
  await (await startPostgres()).stop()
  expect(await left({ folder: stale, data: join(stale, "data"), postmaster: 0 })).toEqual([])
})
