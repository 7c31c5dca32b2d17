import { connect, createServer } from "node:net"
import { pipeline } from "node:stream"
import { listen } from "@outreach/testing/listen"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile, url } = commandLine()

it("connects again if its first connection is lost", async () => {
  const { hostname, port } = new URL(url())
  let isFirst = true
  const proxy = createServer((socket) => {
    if (isFirst) socket.destroy()
    else pipeline(socket, connect(Number(port), hostname), socket, () => {})
    isFirst = false
  })
  const through = new URL(url())
  through.host = `127.0.0.1:${await listen(proxy)}`
  expect(await run(["organizations", "list"], { DATABASE_URL: through.href })).toMatchObject({ code: 0, stderr: "" })
  expect(isFirst).toBe(false)
})

it("shows the server, the timelines of the clocks and which clocks are ahead, and what the role may not see", async () => {
  const [here, elsewhere] = await meanwhile(
    Effect.all([seedCampaign({ recipients: 0 }), seedCampaign({ recipients: 0 })]),
  )
  await meanwhile(
    SqlClient.SqlClient.use(
      (sql) => sql`
        update organization_clock set identity = '7711060699332017234/0000000A', last = clock_timestamp() + interval '1 hour'
        where organization_id = ${elsewhere.organization.id}`,
    ),
  )
  const status = await runJson("database", "show")
  expect(status).toMatchObject({
    role: "primary",
    timeline: expect.any(Number),
    replayed_seconds_ago: null,
    synchronous_standbys: "",
    commits_wait: null,
    standbys: null,
    clocks_ahead: [{ organization_id: elsewhere.organization.id, name: elsewhere.organization.name }],
    clocks_ahead_total: 1,
  })
  expect(Math.round(status.clocks_ahead[0].seconds / 60)).toBe(60)
  expect(status.clock_timelines).toHaveLength(2)
  expect(status.clock_timelines).toEqual(
    expect.arrayContaining([
      { timeline: status.timeline, is_this_servers: true, organizations: 1 },
      { timeline: 10, is_this_servers: false, organizations: 1 },
    ]),
  )
  const { stdout } = await run(["database", "show"])
  expect(stdout).toContain("grant pg_monitor")
  expect(stdout).toContain("Commits wait for no standby")
  expect(stdout).toContain(elsewhere.organization.id)
  expect(stdout).not.toContain(here.organization.id)

  // A superuser sees the standbys, of which there are none.
  const all = await run(["database", "show"], { DATABASE_URL: url() })
  expect(all.stdout).toContain("Standbys:\nNone.")
})
