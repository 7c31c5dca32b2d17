import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { verify } from "@outreach/signature/node"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { startForwardProxy } from "@outreach/testing/startForwardProxy"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"
import { partnerServer } from "./partnerServer.ts"

const { run, meanwhile } = commandLine()

const seed = async (endpointUrl: string) => {
  const { endpoint, secret } = await meanwhile(seedCampaign({ recipients: 0, endpointUrl }))
  return { id: endpoint.id, secret: Redacted.value(secret) }
}
const OPEN = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" }
const test = async (id: string, settings: Readonly<Record<string, string>> = OPEN) => {
  const { code, stdout } = await run(["endpoints", "test", id, "--output", "json"], settings)
  return { code, shown: JSON.parse(stdout) }
}

const recorded = () =>
  meanwhile(
    sql`
      select (select count(*)::int from events) as events, (select count(*)::int from deliveries) as deliveries,
        (select count(*)::int from delivered) as delivered, (select count(*)::int from delivery_attempts) as attempts,
        (select count(*)::int from endpoint_readers where failures > 0) as breakers`,
  )

describe("endpoints test", () => {
  it("sends one signed test event, and shows the status, the latency and the start of the response", async () => {
    const partner = await partnerServer(202, "y".repeat(1000))
    const { id, secret } = await seed(partner.url)
    const before = await recorded()
    const { code, shown } = await test(id)
    expect({ code, shown }).toEqual({
      code: 0,
      shown: {
        ...{ endpoint_id: id, url: partner.url, event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/) },
        ...{ status: 202, outcome: "success", latency_ms: expect.any(Number), response: "y".repeat(500) },
        due_later: 0,
      },
    })
    const [{ headers, body }] = partner.received as [(typeof partner.received)[0]]
    verify(headers["x-signature"] as string, Buffer.from(body), [secret], { now: Date.now() / 1000 })
    expect(headers).toMatchObject({ "x-delivery-attempt": "1", "content-type": "application/json" })
    expect(headers).not.toHaveProperty("webhook-id")
    expect(JSON.parse(body)).toMatchObject({
      ...{ object: "event", livemode: false, event_id: shown.event_id, event_type: "outreach.endpoint_test" },
      ...{ event_version: 1, source: "service", data: { endpoint_id: id }, metadata: { test: true } },
    })
    expect(await recorded()).toEqual(before)
  })

  it("sends the endpoint's headers, through the forward proxy", async () => {
    const partner = await partnerServer()
    const { id } = await seed(partner.url)
    const headers = Redacted.make({ "X-Api-Key": "t0psecret" })
    await meanwhile(EndpointRepository.use(({ update }) => update(id, { headers })))
    const { url, requests } = await startForwardProxy()
    expect((await test(id, { ...OPEN, WEBHOOK_PROXY_URL: url })).code).toBe(0)
    expect(partner.received[0]!.headers).toMatchObject({ "x-api-key": "t0psecret" })
    expect(requests).toMatchObject([{ authority: new URL(partner.url).host }])
    const { code, shown } = await test(id, { ...OPEN, WEBHOOK_PROXY_URL: `http://ann:s3cret@${CLOSED_ADDRESS}` })
    const error = { status: null, outcome: "proxy_failed", response: "refused" }
    expect({ code, error: shown.error }).toMatchObject({ code: 1, error })
    expect(shown.error.message).toMatch(/was not sent to whe_\w+, because this service failed: proxy_failed, after/)
    expect(JSON.stringify(shown)).not.toContain("s3cret")
  })

  it("fails if the endpoint returns an error", async () => {
    const partner = await partnerServer(500, "no")
    const { id } = await seed(partner.url)
    const before = await recorded()
    const { code, shown } = await test(id)
    const error = { code: "endpoint_test_failed", status: 500, outcome: "server_error", response: "no" }
    expect({ code, error: shown.error }).toMatchObject({ code: 1, error })
    expect(shown.error.message).toMatch(/did not accept the test event: status 500, server_error, after \d+ ms\.$/)
    expect(await recorded()).toEqual(before)
  })

  it("fails without a connection, for a private address, and without an active secret", async () => {
    const partner = await partnerServer()
    const { id } = await seed(partner.url)
    expect((await test(id, {})).shown.error).toMatchObject({ status: null, outcome: "blocked_address" })
    expect(partner.received).toEqual([])
    const closed = await seed(`http://${CLOSED_ADDRESS}/`)
    expect((await test(closed.id)).shown.error).toMatchObject({ status: null, outcome: "refused", response: null })
    await meanwhile(
      sql`
        delete from signing_secrets
        where organization_id = (select organization_id from webhook_endpoints where id = ${id})`,
    )
    expect((await test(id)).shown.error).toMatchObject({ code: "no_active_secret" })
  })
})
