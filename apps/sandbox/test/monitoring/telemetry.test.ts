import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { createClient } from "@outreach/client"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { compileCache } from "@outreach/testing/compileCache"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { otlpCollector } from "@outreach/testing/otlpCollector"
import { partner } from "@outreach/testing/partner"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { asRole } from "@outreach/testing/testRoles"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse } from "yaml"
import { expressionFaults } from "./expressionFaults.ts"
import { parseScrape } from "./scrape.ts"

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
const PARENT_ID = "00f067aa0ba902b7"
const RECIPIENTS = 2

const url = migratedDatabase()
const run = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof seedPartner>>>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url())))
const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), "utf8")

const seedPartner = Effect.fnUntraced(function* (endpointUrl: string) {
  const seeded = yield* seedCampaign({ recipients: RECIPIENTS, endpointUrl })
  const key = { organizationId: seeded.organization.id, name: "test", expiresAt: null }
  const issued = yield* issueKey({ ...key, scopes: ["tokens:read", "events:read"] })
  yield* scheduleCampaign(seeded.campaign.id)
  return { ...seeded, apiKey: Redacted.value(issued.text), sql: yield* SqlClient.SqlClient }
})

/** Starts a process, and waits until it serves its operators, and the partners if it is the API. */
const start = async (main: string, environment: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve(main))], {
    env: { ...compileCache, SECRETS_KEY: SECRETS_KEY.toString("base64"), ADMIN_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  const addresses: Record<string, string> = {}
  const waited = "PORT" in environment ? ["admin port open", "listening"] : ["admin port open"]
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { message, annotations } = JSON.parse(line)
    if (message === "admin port open" || message === "listening") {
      addresses[message] = `http://127.0.0.1:${annotations.port}`
    }
  })
  afterAll(() => child.kill("SIGKILL"))
  await eventually(
    () => child.exitCode !== null || waited.every((message) => message in addresses),
    (isOver) => isOver,
  )
  expect(child.exitCode).toBe(null)
  return {
    url: addresses["listening"]!,
    scrape: async () => parseScrape(await (await fetch(`${addresses["admin port open"]}/metrics`)).text()),
    stop: () => {
      child.kill("SIGTERM")
      return ended
    },
  }
}
type Process = Awaited<ReturnType<typeof start>>

let otlp: Awaited<ReturnType<typeof otlpCollector>>
let mail: Awaited<ReturnType<typeof mailServer>>
let [api, worker]: ReadonlyArray<Process> = []
let partners: ReadonlyArray<Awaited<ReturnType<typeof journey>>> = []

/** Takes a partner from a campaign to an event that it sent and that was applied. Its endpoint fails at first. */
const journey = async () => {
  const to = await partner(({ attempt }, response) => response.writeHead(attempt === 1 ? 500 : 200).end(), afterAll)
  const seeded = await run(seedPartner(to.url))
  to.trust(seeded.secret)
  const client = createClient({
    apiKey: seeded.apiKey,
    baseUrl: api!.url,
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
  await fetch(`${api!.url}/v1/partners/consumer/tokens`, { headers: { authorization: "Bearer unknown-key" } })
  await fetch(`${api!.url}/nowhere/${seeded.apiKey}`)
  const count = async () => {
    const [row] = await run(
      SqlClient.SqlClient.use(
        (sql) => sql<{ applied: number }>`
          select count(applied_at)::int as applied from inbox where organization_id = ${seeded.organization.id}`,
      ),
    )
    return {
      applied: row!.applied,
      delivered: new Set(to.received.filter(({ attempt }) => attempt > 1).map(({ deliveryId }) => deliveryId)).size,
    }
  }
  await eventually(count, ({ applied, delivered }) => applied === 1 && delivered >= RECIPIENTS)
  return { ...seeded, event, to }
}

const outreachSeries = async (): Promise<ReadonlySet<string>> => {
  const scrapes = [await api!.scrape(), await worker!.scrape()]
  return new Set(
    scrapes.flatMap((scrape) =>
      [...scrape]
        .filter(([name]) => name.startsWith("outreach_"))
        .flatMap(([name, series]) => series.map((labels) => `${name} ${JSON.stringify(labels)}`)),
    ),
  )
}

let ofOne: ReadonlySet<string> = new Set()
let ofTwo: ReadonlySet<string> = new Set()

beforeAll(async () => {
  otlp = await otlpCollector(afterAll)
  mail = await mailServer(undefined, undefined, afterAll)
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_TRACES_SAMPLER_ARG: "1" }
  const key = SECRETS_KEY.toString("base64")
  const database = asRole(url(), "api")
  // The address of the standby leads to the primary, so that the gauges of a standby show why it is not read from.
  const reading = { DATABASE_URL: database, DATABASE_READ_URL: database }
  api = await start("@outreach/api/main", {
    ...telemetry,
    ...reading,
    CURSOR_KEY: key,
    PORT: "0",
    SHUTDOWN_DELAY_SECONDS: "0",
  })
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
}, 300_000)

it("exports no further series for a second partner", () => {
  expect(ofOne.size).toBeGreaterThan(100)
  expect([...ofTwo].filter((series) => !ofOne.has(series))).toEqual([])
  for (const { organization, endpoint, campaign, program } of partners) {
    for (const { id } of [organization, endpoint, campaign, program]) expect([...ofTwo].join()).not.toContain(id)
  }
})

it("exports each metric and label that the dashboard and the alerts name", async () => {
  const texts = new Map([...(await api!.scrape()), ...(await worker!.scrape())])
  const { panels } = JSON.parse(await read("deploy/grafana-dashboard.json")) as {
    readonly panels: ReadonlyArray<{
      readonly title: string
      readonly targets?: ReadonlyArray<{ readonly expr: string }>
    }>
  }
  const { groups } = parse(await read("deploy/alerts.yml")) as {
    readonly groups: ReadonlyArray<{
      readonly rules: ReadonlyArray<{
        readonly alert: string
        readonly expr: string
        readonly annotations: { readonly summary: string }
      }>
    }>
  }
  const expressions = [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...groups.flatMap(({ rules }) =>
      rules.flatMap(({ alert, expr, annotations }) => [
        [alert, expr] as const,
        ...[...annotations.summary.matchAll(/query "([^"]+)"/g)].map(([, query]) => [alert, query!] as const),
      ]),
    ),
  ]
  expect(expressions.length).toBeGreaterThan(80)
  expect(
    expressions.flatMap(([where, expr]) => expressionFaults(expr, texts).map((fault) => `${where}: ${fault}`)),
  ).toEqual([])
})

it("names what runs, and measures the process", async () => {
  for (const scrape of [await api!.scrape(), await worker!.scrape()]) {
    expect(scrape.get("outreach_build_info")).toEqual([
      { version: expect.stringMatching(/^\d+\.\d+\.\d+/), commit: expect.any(String), node: process.versions.node },
    ])
    for (const name of [
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "nodejs_eventloop_lag_p99_seconds",
    ]) {
      expect(scrape.has(name)).toBe(true)
    }
  }
})

it("joins a partner's request with what the worker applied, and a publication with each call, in one trace each", async () => {
  await Promise.all([api!.stop(), worker!.stop()])
  const spans = otlp.spans()
  const named = (name: string) => spans.filter((span) => span.name === name)

  const requests = named("POST /v1/partners/consumer/webhooks/{endpoint_id}")
  expect(requests.map(({ service, traceId, parentSpanId }) => ({ service, traceId, parentSpanId }))).toEqual(
    partners.map(() => ({ service: "outreach-api", traceId: TRACE_ID, parentSpanId: PARENT_ID })),
  )
  const applied = named("apply inbox").filter(({ attributes }) => "outreach.event.id" in attributes)
  expect(applied.map(({ service, traceId, parentSpanId }) => ({ service, traceId, parentSpanId }))).toEqual(
    requests.map(({ spanId }) => ({ service: "outreach-worker", traceId: TRACE_ID, parentSpanId: spanId })),
  )
  expect(named("update inbox").map(({ parentSpanId }) => parentSpanId)).toEqual(
    expect.arrayContaining(applied.map(({ spanId }) => spanId)),
  )

  for (const { endpoint, to } of partners) {
    const calls = named("deliver webhook").filter(
      ({ attributes }) => attributes["outreach.endpoint.id"] === endpoint.id,
    )
    expect(calls.length).toBe(to.received.length)
    for (const { traceId, parentSpanId, attributes } of calls) {
      const publication = named("publish events").find(({ spanId }) => spanId === parentSpanId)!
      expect(publication.traceId).toBe(traceId)
      expect(JSON.stringify(publication.attributes)).toContain(attributes["outreach.event.id"])
    }
  }
  expect(named("send e-mail").length).toBeGreaterThanOrEqual(partners.length)
  expect(named("GET /v1/partners/consumer/events").length).toBeGreaterThanOrEqual(partners.length)
})

it("exports nothing of a person, a key, a secret, a signature, a body or an address", () => {
  const all = otlp.kept.map(({ body }) => body).join()
  const secrets = partners.flatMap(({ secret, apiKey, to }) => [Redacted.value(secret), apiKey, new URL(to.url).host])
  for (const text of [
    ...secrets,
    npi(0),
    npi(1),
    "clinic.test",
    "v1=",
    "heart-failure",
    "An invitation to",
    "unknown-key",
  ]) {
    expect(all.includes(text), text).toBe(false)
  }
})
