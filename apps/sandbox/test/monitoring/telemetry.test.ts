import { readFile } from "node:fs/promises"
import { createClient } from "@outreach/client"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { afterTests } from "@outreach/testing/afterTests"
import { alertRules } from "@outreach/testing/alertRules"
import { mailServer } from "@outreach/testing/mailServer"
import { otlpCollector } from "@outreach/testing/otlpCollector"
import { partner } from "@outreach/testing/partner"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { startProcess, urlIn } from "@outreach/testing/startProcess"
import { asRole } from "@outreach/testing/testRoles"
import { eventually, until } from "@outreach/testing/until"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, expect, it } from "vitest"
import { parse } from "yaml"
import { expressionFaults } from "./expressionFaults.ts"
import { parseScrape, type Scrape } from "./scrape.ts"

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
const PARENT_ID = "00f067aa0ba902b7"
const RECIPIENTS = 2

const atEnd = afterTests()
const url = migratedDatabase()
const run = runOnDatabase({ url })
const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), "utf8")

const seedPartner = Effect.fnUntraced(function* (endpointUrl: string) {
  const seeded = yield* seedCampaign({ recipients: RECIPIENTS, endpointUrl })
  const key = { organizationId: seeded.organization.id, name: "test", expiresAt: null }
  const issued = yield* issueKey({ ...key, scopes: ["tokens:read", "events:read"] })
  yield* scheduleCampaign(seeded.campaign.id)
  return { ...seeded, apiKey: Redacted.value(issued.text), sql: yield* SqlClient.SqlClient }
})

/** Starts a process, and waits for its admin port. */
const start = async (main: string, settings: Readonly<Record<string, string>>) => {
  const common = { SECRETS_KEY: SECRETS_KEY.toString("base64"), ADMIN_PORT: "0" }
  const started = startProcess(import.meta.resolve(main), { ...common, ...settings }, { atEnd })
  const adminUrl = urlIn(await until(started, "admin port open"))
  return Object.assign(started, {
    scrape: async () => parseScrape(await (await fetch(`${adminUrl}/metrics`)).text()),
  })
}
type Process = Awaited<ReturnType<typeof start>>

let otlp: Awaited<ReturnType<typeof otlpCollector>>
let mail: Awaited<ReturnType<typeof mailServer>>
let apiUrl: string
let [api, worker]: ReadonlyArray<Process> = []
let partners: ReadonlyArray<Awaited<ReturnType<typeof journey>>> = []

/** Runs a journey from a campaign to an applied event of the partner. The endpoint fails at first. */
const journey = async () => {
  const to = await partner(({ attempt }, response) => response.writeHead(attempt === 1 ? 500 : 200).end(), atEnd)
  const seeded = await run(seedPartner(to.url))
  to.trust(seeded.secret)
  const client = createClient({
    apiKey: seeded.apiKey,
    baseUrl: apiUrl,
    retryDelays: [],
    onRequest: () => ({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }),
  })
  const event = sampleEvent("clinician.account_created")
  const about = { npi: npi(0), email: email(0), consumer_program_slug: "heart-failure" }
  await client.sendEvent(
    seeded.endpoint.id,
    { ...event, data: { ...event.data, ...about } },
    {
      secrets: [Redacted.value(seeded.secret)],
    },
  )
  for await (const _ of client.listEvents({ since: "2026-01-01T00:00:00Z" }));
  await fetch(`${apiUrl}/v1/partners/consumer/tokens`, { headers: { authorization: "Bearer unknown-key" } })
  await fetch(`${apiUrl}/nowhere/${seeded.apiKey}`)
  const redelivered = () => new Set(to.received.flatMap(({ attempt, deliveryId }) => (attempt > 1 ? deliveryId : [])))
  await until(to, () => redelivered().size >= RECIPIENTS)
  const { organization } = seeded
  const applied = SqlClient.SqlClient.use(
    (sql) => sql`select from inbox where organization_id = ${organization.id} and applied_at is not null`,
  )
  await eventually(
    () => run(applied),
    ({ length }) => length === 1,
  )
  return { ...seeded, event, to }
}

const scrapeBoth = () => Promise.all([api!.scrape(), worker!.scrape()])

const outreachSeries = async (): Promise<ReadonlySet<string>> => {
  return new Set(
    (await scrapeBoth()).flatMap((scrape) =>
      [...scrape]
        .filter(([name]) => name.startsWith("outreach_"))
        .flatMap(([name, series]) => series.map((labels) => `${name} ${JSON.stringify(labels)}`)),
    ),
  )
}

let ofOne: ReadonlySet<string>
let ofTwo: ReadonlySet<string>
let scrapes: ReadonlyArray<Scrape>

beforeAll(async () => {
  otlp = await otlpCollector(atEnd)
  mail = await mailServer({ atEnd })
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_TRACES_SAMPLER_ARG: "1" }
  const database = asRole(url(), "api")
  api = await start("@outreach/api/main", {
    ...telemetry,
    DATABASE_URL: database,
    CURSOR_KEY: SECRETS_KEY.toString("base64"),
    PORT: "0",
    SHUTDOWN_DELAY_SECONDS: "0",
  })
  apiUrl = urlIn(await until(api, "listening"))
  worker = await start("@outreach/worker/main", {
    ...telemetry,
    DATABASE_URL: asRole(url(), "worker"),
    SMTP_URL: mail.url,
    MAIL_FROM: "Acme <outreach@acme.test>",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    WEBHOOK_RETRY_DELAYS: "1s,1s,1s",
  })
  const first = await journey()
  ofOne = await outreachSeries()
  partners = [first, await journey()]
  ofTwo = await outreachSeries()
  scrapes = await scrapeBoth()
  // The processes export the rest of their spans when they stop.
  await Promise.all([api.kill("SIGTERM"), worker.kill("SIGTERM")])
}, 300_000)

it("exports the build, the process, and no further series for a second partner", () => {
  expect(ofOne.size).toBeGreaterThan(100)
  expect([...ofTwo].filter((series) => !ofOne.has(series))).toEqual([])
  for (const { organization, endpoint, campaign, program } of partners) {
    for (const { id } of [organization, endpoint, campaign, program]) expect([...ofTwo].join()).not.toContain(id)
  }
  for (const scrape of scrapes) {
    expect(scrape.get("outreach_build_info")).toEqual([
      { version: expect.stringMatching(/^\d+\.\d+\.\d+/), commit: expect.any(String), node: process.versions.node },
    ])
    const names = ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_eventloop_lag_p99_seconds"]
    for (const name of names) expect(scrape.has(name)).toBe(true)
  }
})

interface Panel {
  readonly title: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}

it("exports each metric and label that the dashboard and the alerts name", async () => {
  const exported = new Map(scrapes.flatMap((scrape) => [...scrape]))
  const { panels } = JSON.parse(await read("deploy/grafana-dashboard.json")) as {
    readonly panels: ReadonlyArray<Panel>
  }
  const { groups } = parse(alertRules()) as {
    readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>
  }
  const expressions = [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...groups
      .flatMap(({ rules }) => rules)
      .flatMap(({ alert, expr, annotations }) => [
        [alert, expr] as const,
        ...[...annotations.summary.matchAll(/query "([^"]+)"/g)].map(([, query]) => [alert, query!] as const),
      ]),
  ]
  expect(expressions.length).toBeGreaterThan(80)
  const faults = expressions.flatMap(([where, expr]) =>
    expressionFaults(expr, exported).map((fault) => `${where}: ${fault}`),
  )
  expect(faults.join("\n")).toBe("")
})

it("joins a partner's request with the worker's changes in one trace", () => {
  const spans = otlp.spans()
  const named = (name: string) => spans.filter((span) => span.name === name)

  const requests = named("POST /v1/partners/consumer/webhooks/{endpoint_id}")
  expect(requests.map(({ service, traceId, parentSpanId }) => ({ service, traceId, parentSpanId }))).toEqual(
    partners.map(() => ({ service: "outreach-api", traceId: TRACE_ID, parentSpanId: PARENT_ID })),
  )
  // An event that waits, as for a message in flight, is read more than once.
  const updates = named("update inbox").map(({ parentSpanId }) => parentSpanId)
  const applied = named("apply inbox").filter(({ spanId }) => updates.includes(spanId))
  expect(new Set(applied.map(({ service, traceId, parentSpanId }) => `${service} ${traceId} ${parentSpanId}`))).toEqual(
    new Set(requests.map(({ spanId }) => `outreach-worker ${TRACE_ID} ${spanId}`)),
  )
})

it("exports no personal data, key, secret, signature, body or address", () => {
  const all = otlp.kept.map(({ body }) => body).join()
  const secrets = partners.flatMap(({ secret, apiKey, to }) => [Redacted.value(secret), apiKey, new URL(to.url).host])
  const contents = ["clinic.test", "v1=", "heart-failure", "An invitation to", "unknown-key"]
  for (const text of [...secrets, npi(0), npi(1), ...contents]) expect(all.includes(text), text).toBe(false)
})
