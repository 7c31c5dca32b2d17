import { NodeServices } from "@effect/platform-node"
import { readStatus, type Status } from "@outreach/backoffice/inspection/readStatus"
import { CampaignProgress } from "@outreach/domain/campaigns/Campaign"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { RELEASE } from "@outreach/process/release"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Changes, until } from "@outreach/testing/until"
import { ConfigProvider, Console, Context, Effect, Fiber, Record } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { Output } from "../src/output/Output.ts"
import { formatStatus } from "../src/status/formatStatus.ts"
import { watchStatus } from "../src/status/showStatus.ts"
import { commandLine } from "./commandLine.ts"

const { url, run, runJson, meanwhile } = commandLine()

const HOME = "\u001b[H"

describe("status", () => {
  it("shows the database, the queues, the endpoints and the active campaigns, once without a terminal", async () => {
    const { endpoint } = await meanwhile(seedDeadLetters(3, { reason: "rejected" }))
    const { campaign } = await meanwhile(
      Effect.tap(seedCampaign({ recipients: 5 }), ({ campaign }) => scheduleCampaign(campaign.id)),
    )
    const newest = { id: campaign.id, status: "scheduled", progress: { recipients: 5, sent: 0 }, paused_domains: 0 }
    expect(await runJson("status")).toMatchObject({
      release: RELEASE,
      database: { version: expect.stringMatching(/^\d+/), schema: expect.stringMatching(/^\d{4}_\w+$/), workers: 0 },
      deliveries: { in_flight: 0, dead_letters: { rejected: 3, exhausted: 0, poison: 0 } },
      endpoints: { disabled: 1, enabled: { closed: 1, open: 0 } },
      campaigns: { under_way: 1, newest: [newest] },
    })
    const { code, stdout } = await run(["status", "--watch"])
    expect({ code, releases: stdout.match(/^release /gm) }).toEqual({ code: 0, releases: ["release "] })
    expect(stdout).toMatch(/^dead {7}3 rejected, 0 exhausted, 0 poison$/m)
    expect(stdout).toMatch(/^ {2}Spring {11}scheduled {2}░{10} 0% 0\/5$/m)
    expect(stdout).not.toContain(endpoint.url)
  })

  it("fits a terminal of 80 columns and 24 lines, however much there is", async () => {
    const { campaigns, endpoints, ...status } = await meanwhile(readStatus)
    const name = "A campaign whose name is long\u001b[2J"
    const progress = Record.map(CampaignProgress.fields, () => 0)
    const newest = Array(5).fill({ name, status: "publishing", progress, pausedDomains: 0 })
    const id = `whe_${"0".repeat(32)}`
    const worst = Array(5).fill({ id, breaker: "recovering", lagEvents: 0, lagSeconds: 0, waiting: 0 })
    const lines = formatStatus(
      enlarge({ ...status, campaigns: { ...campaigns, newest }, endpoints: { ...endpoints, worst } }) as Status,
    )
    expect(lines.length).toBeLessThan(24)
    expect(lines.filter((line) => [...line].length > 79)).toEqual([])
    expect(lines.join("\n")).toContain("10,000 rejected")
  })
})

/** Replaces all numbers in a value by a large one. */
const enlarge = (value: unknown): unknown => {
  if (typeof value === "number") return 10_000
  if (Array.isArray(value)) return value.map(enlarge)
  return typeof value === "object" && value !== null
    ? Record.map(value as { readonly [key: string]: unknown }, enlarge)
    : value
}

/** Reads the status every 50 ms until the test has finished. */
const watch = (terminal: Parameters<typeof watchStatus>[0]["terminal"], output: Context.Context<never>) => {
  const env = { DATABASE_URL: url() }
  const watching = Effect.runFork(
    watchStatus({ seconds: 0.05, terminal }).pipe(
      Effect.provideContext(output),
      Effect.provide(NodeServices.layer),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    ),
  )
  const stop = () => Effect.runPromise(Fiber.interrupt(watching))
  onTestFinished(async () => void (await stop()))
  return stop
}

describe("status --watch", () => {
  it("redraws in place, reports that the database is away, and continues when it is back", async () => {
    const screen = { changes: new Changes(), text: "" }
    const terminal = {
      ...{ columns: 80, rows: 24 },
      write: (text: string) => {
        screen.text += text
        screen.changes.announce()
        return true
      },
    }
    /** Waits until two more screens that start with a text were drawn. */
    const drawn = async (start: string) => {
      screen.text = ""
      await until(screen, ({ text }) => text.split(HOME + start).length > 2)
    }
    const stop = watch(terminal, Context.empty())
    await drawn("release ")
    const database = new URL(url()).pathname.slice(1)
    await onServer((sql) => sql`alter database ${sql(database)} with allow_connections false`)
    await onServer((sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`)
    await drawn("20")
    expect(screen.text).toMatch(/Nothing could be read since \S+ \S+ UTC\. The last reading:/)
    await onServer((sql) => sql`alter database ${sql(database)} with allow_connections true`)
    await drawn("release ")
    screen.text = ""
    await stop()
    // The first screen is back, with the last reading on it.
    expect(screen.text.slice(screen.text.lastIndexOf("\u001b") + 1)).toMatch(/^\[\?1049lrelease .*\n/)
  })

  it("prints a JSON value on a line for each reading with --output json", async () => {
    const printed = { changes: new Changes(), values: [] as string[] }
    const log = (line: string) => {
      printed.values.push(line)
      printed.changes.announce()
    }
    const console = { ...globalThis.console, log } as Console.Console
    watch(process.stdout, Context.add(Context.make(Output, "json" as const), Console.Console, console) as never)
    await until(printed, ({ values }) => values.length >= 2)
    for (const line of printed.values) expect(JSON.parse(line)).toMatchObject({ release: RELEASE, hits: { count: 0 } })
  })
})

/** Runs a statement on the server's own database, because clients can't connect to the other one. */
const onServer = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) => {
  const address = new URL(url())
  address.pathname = "/postgres"
  return Effect.runPromise(SqlClient.SqlClient.use(statement).pipe(Effect.provide(testDatabaseLayer(address.href))))
}
