import { connect, createServer } from "node:net"
import { pipeline } from "node:stream"
import { listen } from "@outreach/testing/listen"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile, url } = commandLine()

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

it("runs a command that changes nothing again if its connection is lost, and no other", async () => {
  expect(await runLosing("from organizations", "organizations", "list")).toEqual({ code: 0, stderr: "", lost: 1 })
  const rename = ["organizations", "update", `org_${"0".repeat(32)}`, "--no-contacts"]
  const { code, stderr } = await runLosing("update organizations", ...rename)
  expect([code, stderr]).toEqual([1, expect.stringContaining("failed in the database")])
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

  // A superuser sees the standbys; there are none.
  const all = await run(["database", "show"], { DATABASE_URL: url() })
  expect(all.stdout).toContain("Standbys:\nNone.")
})
