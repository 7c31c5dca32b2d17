import { execFileSync } from "node:child_process"
import { open, readFile, readlink, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { stop } from "../src/server.ts"
import { type Postgres, startPostgres } from "../src/startPostgres.ts"
import type { StartOptions } from "../src/supervisor.ts"
import { cluster, isPostgres, left } from "./cluster.ts"
import { query } from "./query.ts"
import { startParent } from "./startParent.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const started: Postgres[] = []

async function start(options?: StartOptions): Promise<Postgres> {
  const postgres = await startPostgres(options)
  started.push(postgres)
  return postgres
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()))
})

test("a temporary cluster serves and is gone after stop", async () => {
  const postgres = await start()
  const running = await cluster(postgres.url)
  expect(await query(postgres.url, "select current_setting('server_version_num')::int / 10000 as major")).toEqual([
    { major: 18 },
  ])
  expect(await left(running)).toEqual(["folder", "process"])
  await postgres.stop()
  expect(await left(running)).toEqual([])
  await postgres.stop()
})

test("the server runs as an unprivileged user if started by root, otherwise as the current user", async () => {
  const { data } = await cluster((await start()).url)
  const uid = process.getuid?.()
  expect((await stat(data)).uid).toBe(uid === 0 ? 65534 : uid)
})

test("it only listens on 127.0.0.1 and requires the password", async () => {
  const { url } = await start()
  expect(await query(url, "show listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }])
  expect(await query(url, "show unix_socket_directories")).toEqual([{ unix_socket_directories: "" }])
  const wrong = new URL(url)
  wrong.password = "wrong"
  await expect(query(wrong.href, "select 1")).rejects.toThrow("password authentication failed")
})

test("a temporary cluster forgoes durability and a persistent one does not", async () => {
  const persistent = await start({ dataDirectory: await temporaryFolder() })
  expect(await query(persistent.url, "show fsync")).toEqual([{ fsync: "on" }])
  expect(await query((await start()).url, "show fsync")).toEqual([{ fsync: "off" }])
})

test("the second start on a persistent cluster names the process that uses it", async () => {
  const dataDirectory = await temporaryFolder()
  const first = await startParent({ dataDirectory })
  await expect(start({ dataDirectory })).rejects.toThrow(`${dataDirectory} is in use by process ${first.process.pid} (`)
  expect(await query(first.url, "select 1 as one")).toEqual([{ one: 1 }])
})

test("of many starts at once on a persistent cluster one succeeds", async () => {
  const dataDirectory = await temporaryFolder()
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => start({ dataDirectory })))
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []))
  expect(refused).toHaveLength(3)
  for (const reason of refused) expect(reason).toContain(`is in use by process ${process.pid}`)
})

test("a claim that several find stale at once goes to one of them", async () => {
  const dataDirectory = await temporaryFolder()
  const first = await startParent({ dataDirectory })
  process.kill(Number.parseInt(await readlink(`${dataDirectory}/claim`), 10), "SIGKILL")
  await first.end("SIGKILL")
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => start({ dataDirectory })))
  expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1)
})

test("a start after kill -9 of the postmaster recovers committed data", async () => {
  const dataDirectory = await temporaryFolder()
  const first = await start({ dataDirectory })
  await query(first.url, "create table kept as select 7 as seven")
  const { postmaster } = await cluster(first.url)
  // A busy backend outlives its postmaster, and the new one must wait for it.
  const busy = query(
    first.url,
    "do $$ declare until timestamptz := clock_timestamp() + '4 s'; begin loop exit when clock_timestamp() > until; end loop; end $$",
  ).catch(() => "lost")
  const atWork = "select 1 from pg_stat_activity where query like 'do $$%' and state = 'active'"
  await expect.poll(() => query(first.url, atWork)).toHaveLength(1)
  process.kill(postmaster, "SIGKILL")
  await first.stop()
  const second = await start({ dataDirectory })
  expect(await query(second.url, "select seven from kept")).toEqual([{ seven: 7 }])
  expect(await isPostgres(postmaster)).toBe(false)
  await busy
})

test("a killed server restarts at the same address and recovers committed data", async () => {
  const server = await start({ settings: { synchronous_commit: "on" } })
  await query(server.url, "create table kept as select 7 as seven")
  await server.kill()
  await server.restart()
  expect(await query(server.url, "select seven from kept")).toEqual([{ seven: 7 }])
  await server.restart()
  expect(await query(server.url, "select seven from kept")).toEqual([{ seven: 7 }])
})

test("stopping waits for a server process that has removed its pid file but is still running", async () => {
  const { url, dataDirectory } = await start()
  const { postmaster } = await cluster(url)
  const pidFile = join(dataDirectory, "postmaster.pid")
  // `stop` reads the file once: `pg_ctl` no longer finds it.
  const pid = await readFile(pidFile)
  await rm(pidFile)
  execFileSync("mkfifo", [pidFile])
  process.kill(postmaster, "SIGSTOP")
  const stopped = stop({ data: dataDirectory }, "fast")
  const fifo = await open(pidFile, "w")
  await rm(pidFile)
  await fifo.writeFile(pid)
  await fifo.close()
  const gaveUp = await Promise.race([stopped.then(String, String), delay(1000)])
  process.kill(postmaster, "SIGQUIT")
  process.kill(postmaster, "SIGCONT")
  await stopped
  expect(gaveUp).toBeUndefined()
  expect(await isPostgres(postmaster)).toBe(false)
})

test("a failed start reports the end of the server's log", async () => {
  await expect(start({ settings: { no_such_setting: "1" } })).rejects.toThrow(
    /did not start.*unrecognized configuration parameter "no_such_setting"/s,
  )
})
