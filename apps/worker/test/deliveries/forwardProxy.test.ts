import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer as createTcpServer } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { explainFailure } from "@outreach/domain/deliveries/describeCause"
import { settleAttempt } from "@outreach/domain/deliveries/settleAttempt"
import { WebhookClient } from "@outreach/domain/deliveries/WebhookClient"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { WebhookProxy } from "@outreach/process/webhookProxy"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { startForwardProxy } from "@outreach/testing/startForwardProxy"
import { HttpWebhookClient } from "@outreach/webhooks/HttpWebhookClient"
import { ConfigProvider, Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const key = readFileSync(new URL("../data/key.pem", import.meta.url))
const cert = readFileSync(new URL("../data/certificate.pem", import.meta.url))
const organizationId = OrganizationId.make(`org_${"0".repeat(32)}`)
const body = new TextEncoder().encode("{}")

const trusted = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([...trusted, cert.toString()]))
afterAll(() => setDefaultCACertificates(trusted))

const proxyAt = (url: string, except = "none"): WebhookProxy | null =>
  Effect.runSync(
    webhookProxy.parse(ConfigProvider.fromEnv({ env: { WEBHOOK_PROXY_URL: url, WEBHOOK_PROXY_EXCEPT: except } })),
  )

/** Posts several times with one client, through a proxy. Returns the last reply. */
const post = (
  url: string,
  proxy: WebhookProxy | null,
  options: Partial<Parameters<typeof HttpWebhookClient>[0]> = {},
  times = 1,
) =>
  WebhookClient.use(({ post }) => Effect.replicateEffect(post({ organizationId, url }, {}, body), times)).pipe(
    Effect.map((replies) => replies.at(-1)!),
    Effect.provide(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 15_000, proxy, ...options })),
    Effect.runPromise,
  )

/** Resolves every name to these addresses. */
const namesTo =
  (...addresses: ReadonlyArray<string>) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))

const partnerAt = async () => await listen(createServer((_, response) => response.end("thanks")))
const tlsPartnerAt = async () => await listen(createTlsServer({ key, cert }, (_, response) => response.end("sealed")))

describe("a call through the forward proxy", () => {
  it("shares a tunnel with later calls, has the proxy's credentials, and may take longer than to connect", async () => {
    const { url, requests } = await startForwardProxy()
    const delays = [2500]
    const slow = createServer((_, response) => setTimeout(() => response.end("thanks"), delays.shift()))
    const port = await listen(slow)
    const reply = await post(
      `http://127.0.0.1:${port}/`,
      proxyAt(url.replace("://", "://ann:p%40ss@")),
      { connectMs: 2000 },
      4,
    )
    expect(reply).toEqual({ status: 200, response: "thanks" })
    expect(requests[0]).toEqual({ authority: `127.0.0.1:${port}`, credentials: "ann:p@ss" })
    // The next call may start before the last connection is free again.
    expect(requests.length).toBeLessThanOrEqual(2)
  })

  it("names the checked address to the proxy, and checks the certificate for the endpoint's name", async () => {
    const serverNames: Array<string> = []
    const SNICallback = (name: string, done: (error: null) => void) => {
      serverNames.push(name)
      done(null)
    }
    const { url, requests } = await startForwardProxy(undefined, { key, cert, SNICallback })
    const port = await tlsPartnerAt()
    const [proxy, names] = [proxyAt(url), namesTo("127.0.0.1")]
    expect(await post(`https://localhost:${port}/`, proxy, { names })).toEqual({ status: 200, response: "sealed" })
    expect(await post(`https://hooks.test:${port}/`, proxy, { names })).toEqual({ error: "tls" })
    expect(new Set(requests.map(({ authority }) => authority))).toEqual(new Set([`127.0.0.1:${port}`]))
    expect(new Set(serverNames)).toEqual(new Set(["localhost"]))
  })

  it("never names a private address to the proxy", async () => {
    const { url, requests } = await startForwardProxy()
    const names = namesTo("93.184.216.34", "127.0.0.1")
    for (const host of ["hooks.test", "127.0.0.1", "[::1]"]) {
      const reply = await post(`https://${host}/`, proxyAt(url), { allowPrivateAddresses: false, names })
      expect(reply).toEqual({ error: "blocked_address" })
    }
    expect(requests).toEqual([])
  })

  it("tries the next addresses of a name if the proxy can't connect to the first", async () => {
    const { url, requests } = await startForwardProxy(({ authority }) => (authority.startsWith("127") ? 200 : 502))
    const port = await partnerAt()
    const names = namesTo("192.0.2.1", "2001:db8::1", "127.0.0.1")
    expect(await post(`http://hooks.test:${port}/`, proxyAt(url), { names })).toMatchObject({ status: 200 })
    const authorities = [`192.0.2.1:${port}`, `[2001:db8::1]:${port}`, `127.0.0.1:${port}`]
    expect(requests.map(({ authority }) => authority)).toEqual(authorities)
  })

  it.each(["hooks.test", "127.0.0.0/8"])("isn't made for an exception: %s", async (except) => {
    const { url, requests } = await startForwardProxy()
    // Its next address isn't an exception.
    const answers = [namesTo("127.0.0.1"), namesTo("192.0.2.1")]
    const names = () => answers.shift()!()
    const reply = await post(`http://a.hooks.test:${await partnerAt()}/`, proxyAt(url, except), { names })
    expect(reply).toMatchObject({ status: 200 })
    expect(requests).toEqual([])
  })
})

describe("a failure of the forward proxy", () => {
  const silent = async () => `https://127.0.0.1:${await listen(createTcpServer())}`
  const closing = async () => `http://127.0.0.1:${await listen(createTcpServer((socket) => socket.end()))}`
  const respondingWith = async (status: number) => (await startForwardProxy(() => status)).url

  it.each([
    ["refused", async () => `http://${CLOSED_ADDRESS}`],
    ["no connection in time", silent],
    ["reset", closing],
    ["tls", async () => `https://127.0.0.1:${await listen(createServer())}`],
    ["status 407", () => respondingWith(407)],
    ["status 403", () => respondingWith(403)],
    ["status 302", () => respondingWith(302)],
  ])("isn't an attempt, and doesn't blame the endpoint: %s", async (response, start) => {
    const reply = await post("https://93.184.216.34/", proxyAt(await start()), { connectMs: 1000 })
    expect(reply).toEqual({ error: "proxy_failed", response })
    const rules = { retryStatuses: [], disableOnGone: true, schedule: SPECIFIED_SCHEDULE }
    for (const attempt of [1, 20]) expect(settleAttempt(reply, attempt, rules)).toMatchObject({ settlement: "retry" })
    expect(explainFailure({ status: null, outcome: "proxy_failed" })).toContain("The forward proxy of this service")
  })

  it.each([
    ["status 503", 503],
    ["no response in time", 0],
  ])("to connect to the endpoint is a failed attempt: %s", async (response, status) => {
    const reply = await post("https://93.184.216.34/", proxyAt(await respondingWith(status)), { connectMs: 1000 })
    expect(reply).toEqual({ error: "unreachable_by_proxy", response })
  })
})
