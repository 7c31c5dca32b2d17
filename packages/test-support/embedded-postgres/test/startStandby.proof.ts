import { afterEach, expect, test } from "vitest"
import { type Postgres, startPostgres } from "../src/startPostgres.ts"
import { startStandby } from "../src/startStandby.ts"
import { cluster, left } from "./cluster.ts"
import { query } from "./query.ts"

const started: Postgres[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()))
})

test("a standby has all replicated data after its primary is killed, and accepts writes once promoted", async () => {
  const primary = await startPostgres({ settings: { synchronous_commit: "on" } })
  started.push(primary)
  await query(primary.url, "create table kept as select 1 as n")
  const standby = await startStandby(primary, { name: "s1", settings: { synchronous_commit: "on" } })
  started.push(standby)
  await query(primary.url, "insert into kept values (2)")
  await expect.poll(() => query(standby.url, "select n from kept"), { timeout: 30_000 }).toHaveLength(2)
  expect(await query(primary.url, "select application_name from pg_stat_replication")).toEqual([
    { application_name: "s1" },
  ])
  await expect(query(standby.url, "insert into kept values (3)")).rejects.toThrow("read-only")

  const lost = await cluster(primary.url)
  await primary.kill()
  expect(await left(lost)).toEqual(["folder"])
  await expect(query(primary.url, "select 1")).rejects.toThrow("ECONNREFUSED")
  await standby.promote()
  await query(standby.url, "insert into kept values (3)")
  expect(await query(standby.url, "select n from kept order by n")).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])

  const promoted = await cluster(standby.url)
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()))
  expect([await left(lost), await left(promoted)]).toEqual([[], []])
})
