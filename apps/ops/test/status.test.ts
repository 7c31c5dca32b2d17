import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { CampaignId, EndpointId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { RELEASE } from "@outreach/process/release"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { ConfigProvider, Console, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { Output } from "../src/output/Output.ts"
import { formatStatus } from "../src/status/formatStatus.ts"
import type { Status } from "../src/status/readStatus.ts"
import { watchStatus } from "../src/status/watchStatus.ts"
import { commandLine } from "./commandLine.ts"

const { url, run, runJson, meanwhile } = commandLine()

const HOME = "\u001b[H"

const MAIN = fileURLToPath(import.meta.resolve("../src/main.ts"))

describe("status", () => {
  it("shows the database, the queues, the endpoints and the campaigns under way", async () => {
    const { endpoint } = await meanwhile(seedDeadLetters(3, { reason: "rejected" }))
    const { campaign } = await meanwhile(
      Effect.tap(seedCampaign({ recipients: 5 }), ({ campaign }) => scheduleCampaign(campaign.id)),
    )
    const status = await runJson("status")
    expect(status).toMatchObject({
      release: RELEASE,
      database: {
        version: expect.stringMatching(/^\d+/),
        schema: expect.stringMatching(/^\d{4}_\w+$/),
        workers: 0,
      },
      deliveries: { in_flight: 0, dead_letters: { rejected: 3, exhausted: 0, poison: 0 } },
      endpoints: { disabled: 1, enabled: { closed: 1, open: 0 } },
      campaigns: {
        under_way: 1,
        newest: [{ id: campaign.id, status: "scheduled", progress: { recipients: 5, sent: 0 }, paused_domains: 0 }],
      },
    })
    const { code, stdout } = await run(["status"])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^dead {7}3 rejected, 0 exhausted, 0 poison$/m),
    })
    expect(stdout).toMatch(/^ {2}Spring {11}scheduled {2}░{10} 0% 0\/5$/m)
    expect(stdout).not.toContain(endpoint.url)
  })

  it("prints one reading without a terminal, also with --watch", async () => {
    const { code, stdout } = await run(["status", "--watch"])
    expect({ code, releases: stdout.match(/^release /gm) }).toEqual({ code: 0, releases: ["release "] })
  })

  it("says in one sentence that the database does not answer", async () => {
    const { code, stderr } = await run(["status"], { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/x" })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^No connection to the database of DATABASE_URL: .*\.\n$/),
    })
  })

  it("fits a terminal of 80 columns and 24 lines, however much there is", () => {
    const lines = formatStatus(busyStatus)
    expect(lines.length).toBeLessThan(24)
    expect(lines.filter((line) => [...line].length > 79)).toEqual([])
    expect(lines.join("\n")).toContain("10,000 rejected")
  })
})

describe("status --watch", () => {
  it("redraws in place, says while the database is away, and goes on when it is back", async () => {
    let written = ""
    const terminal = {
      columns: 80,
      rows: 24,
      write: (text: string) => {
        written += text
        return true
      },
    }
    /** Waits until two screens that begin so have been drawn. */
    const drawn = async (beginning: string) => {
      written = ""
      await eventually(
        () => written.split(HOME + beginning).length,
        (parts) => parts > 2,
      )
    }
    const watching = Effect.runFork(
      watchStatus({ seconds: 0.05, terminal }).pipe(
        Effect.provide(NodeServices.layer),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { DATABASE_URL: url() } })),
      ),
    )
    await drawn("release ")
    const database = new URL(url()).pathname.slice(1)
    await onServer((sql) => sql`alter database ${sql(database)} with allow_connections false`)
    await onServer((sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`)
    await drawn("20")
    expect(written).toMatch(/Nothing could be read since \S+ \S+ UTC\. The last reading:/)
    await onServer((sql) => sql`alter database ${sql(database)} with allow_connections true`)
    await drawn("release ")
    written = ""
    await Effect.runPromise(Fiber.interrupt(watching))
    // The first screen is back, and the last reading stays on it.
    expect(written.slice(written.lastIndexOf("\u001b") + 1)).toMatch(/^\[\?1049lrelease .*\n/)
  })

  it("prints a JSON value on a line for each reading with --output json", async () => {
    const lines: string[] = []
    const log = (line: string) => void lines.push(line)
    const watching = Effect.runFork(
      watchStatus({ seconds: 0.05, terminal: process.stdout }).pipe(
        Effect.provideService(Output, "json"),
        Effect.provideService(Console.Console, { ...globalThis.console, log } as Console.Console),
        Effect.provide(NodeServices.layer),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { DATABASE_URL: url() } })),
      ),
    )
    await eventually(
      () => lines.length,
      (count) => count >= 2,
    )
    await Effect.runPromise(Fiber.interrupt(watching))
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ release: RELEASE, hits: { count: 0 } })
  })

  // util-linux's script gives a process a terminal.
  it.skipIf(spawnSync("script", ["--version"]).status !== 0)("ends with Ctrl-C on a terminal", async () => {
    const child = spawn("script", ["-qec", `${process.execPath} ${MAIN} status --watch`, "/dev/null"], {
      env: { DATABASE_URL: url(), PATH: process.env["PATH"] },
    })
    let shown = ""
    child.stdout.on("data", (chunk) => {
      if (!shown.includes("release ") && `${shown}${chunk}`.includes("release ")) child.stdin.write("\u0003")
      shown += chunk
    })
    const [code] = await once(child, "close")
    expect({ code, end: shown.includes("\u001b[?1049l") }).toEqual({ code: 130, end: true })
  })
})

/** Runs a statement on the server's own database, because nobody can connect to the other. */
const onServer = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) => {
  const address = new URL(url())
  address.pathname = "/postgres"
  return Effect.runPromise(SqlClient.SqlClient.use(statement).pipe(Effect.provide(testDatabaseLayer(address.href))))
}

const many = { count: 10_000, oldestSeconds: 9_000_000 }
const busyLane = { ...many, maxLagEvents: 10_000, maxLagSeconds: 9_000_000 }
const aged = { transactions: 1e9, seconds: 1e7 }
const busyStatus: Status = {
  at: Timestamp.make("2026-11-22T18:50:00.000001Z"),
  release: "10.20.30",
  database: {
    version: "18.4 (Debian 18.4-1.pgdg120+1)",
    bytes: 9.99e14,
    connections: 10_000,
    maxConnections: 10_000,
    schema: "0042_a_migration_with_a_long_name",
    workers: 1000,
    horizon: { session: aged, replication_slot: aged, prepared_transaction: aged },
    clockAheadSeconds: 100_000,
  },
  deliveries: {
    due: { live: busyLane, probed: busyLane, replay: busyLane },
    inFlight: 1_000_000,
    deadLetters: { rejected: 10_000, exhausted: 10_000, poison: 10_000 },
  },
  endpoints: {
    disabled: 1000,
    enabled: { closed: 1000, open: 1000, probing: 1000, recovering: 1000 },
    worst: Array.from({ length: 5 }, () => ({
      id: EndpointId.make(`whe_${"0".repeat(32)}`),
      breaker: "recovering" as const,
      lagEvents: 1_000_000,
      lagSeconds: 9_000_000,
      waiting: 1_000_000,
    })),
  },
  inbox: { ...many, setAside: 10_000 },
  hits: many,
  unsubscriptions: many,
  replies: { waiting: 10_000 },
  messages: { ...many, quarantined: 10_000 },
  campaigns: {
    underWay: 1000,
    newest: Array.from({ length: 5 }, () => ({
      id: CampaignId.make(`cmp_${"0".repeat(32)}`),
      name: "A campaign whose name is long\u001b[2J",
      status: "publishing" as const,
      progress: {
        ...{ recipients: 1_000_000, published: 1_000_000, queued: 0, deferred: 0, unknown: 0, quarantined: 100 },
        ...{ withdrawn: 0, sent: 999_000, sentInLastMinute: 0, bounced: 0, answered: 999_000 },
        ...{ refusedLater: 0, complained: 0, unsubscribed: 0 },
      },
      pausedDomains: 100,
    })),
  },
}
