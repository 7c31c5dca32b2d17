import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import tls from "node:tls"
import { LINK_DOMAIN_PROOF_PATH, proveLinkDomain, TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { createResolver } from "@outreach/mail/dnsFindings"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { singleKey } from "@outreach/process/keyRing"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { CLOSED_PORT, listen } from "@outreach/testing/listen"
import { dnsServer } from "@outreach/testing/startNameServer"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type LinkTarget, linkDomainFindings } from "../../src/senders/SenderSetup.ts"

const DOMAIN = "click.acme.test"
const HOST = "api.outreach.test"
const data = (name: string) => readFileSync(new URL(`data/${name}`, import.meta.url), "utf8")

const sealOf = (ring: Parameters<typeof NodeTrackingSeal>[0]) =>
  Effect.runSync(Effect.provide(TrackingSeal, NodeTrackingSeal(ring)))
const own = sealOf(SECRETS_RING)
const foreign = sealOf(singleKey(Redacted.make(Buffer.alloc(32, 8))))

const trusted = tls.getCACertificates("default")
beforeAll(() => tls.setDefaultCACertificates([...trusted, data("authority.pem")]))
afterAll(() => tls.setDefaultCACertificates(trusted))

type Response = readonly [status: number, body: string]
const prove = (challenge: string): Response => [200, proveLinkDomain(own, DOMAIN, challenge)]

/** Starts the server of a link domain, and returns its port. */
const serve = async (respond: (challenge: string) => Response): Promise<number> => {
  const pem = data("click.acme.test.pem")
  const server = createServer({ cert: pem, key: pem }, ({ url }, response) => {
    const [status, body] = respond(url!.slice(LINK_DOMAIN_PROOF_PATH.length))
    response.writeHead(status, { Location: `https://${HOST}/` }).end(body)
  })
  return await listen(server)
}

const look = async (
  port: number,
  { cname = HOST, domain = DOMAIN, ...target }: Partial<LinkTarget> & { cname?: string; domain?: string } = {},
) => {
  const server = await dnsServer([
    ...(cname === "" ? [] : [{ type: "CNAME", name: domain, data: cname } as const]),
    { type: "CNAME", name: "alias.acme.test", data: "API.outreach.test" },
    { type: "CNAME", name: "circle.acme.test", data: "circle.acme.test" },
    { type: "A", name: domain, data: "127.0.0.1" },
  ])
  const findings = await Effect.runPromise(
    linkDomainFindings(createResolver([server]), domain, {
      publicBaseUrl: `https://${HOST}:${port}`,
      allowPrivateAddresses: true,
      secretsKey: Effect.succeed(SECRETS_RING),
      ...target,
    }),
  )
  return findings.map(({ status, found }) => `${status}: ${found}`)
}

describe("the findings about a link domain", () => {
  it.each([HOST, "alias.acme.test"])("are good if it points to this deployment through %s", async (cname) => {
    const port = await serve(prove)
    expect(await look(port, { cname })).toEqual([
      `ok: The CNAME record of ${DOMAIN} points to ${HOST}.`,
      `ok: This deployment responds at https://${DOMAIN}:${port} with a valid certificate.`,
    ])
  })

  it.each<[reason: string, found: RegExp, options: Parameters<typeof look>[1], respond?: typeof prove]>([
    ["has no CNAME record", /: click\.acme\.test has no CNAME record\.$/, { cname: "" }],
    ["points elsewhere", /points to other\.test instead of api\.outreach\.test\.$/, { cname: "other.test" }],
    ["points in a loop", /points to circle\.acme\.test instead of/, { cname: "circle.acme.test" }],
    [
      "returns the proof of a different deployment",
      /doesn't reach this deployment: status 200\.$/,
      {},
      (challenge) => [200, proveLinkDomain(foreign, DOMAIN, challenge)],
    ],
    [
      "returns the proof for a different name",
      /doesn't reach this deployment: status 200\.$/,
      {},
      (challenge) => [200, proveLinkDomain(own, HOST, challenge)],
    ],
    [
      "returns the proof for an earlier challenge",
      /doesn't reach this deployment/,
      {},
      () => [200, proveLinkDomain(own, DOMAIN, "c".repeat(32))],
    ],
    ["redirects", /: status 302\.$/, {}, () => [302, ""]],
    ["returns a large body", /: status 200\.$/, {}, () => [200, "a".repeat(1_000_000)]],
    [
      "has a private address",
      /doesn't respond: blocked_address \(BLOCKED_ADDRESS\)\.$/,
      { allowPrivateAddresses: false },
    ],
    [
      "has no certificate for its name",
      /^failed: https:\/\/other\.acme\.test:\d+ doesn't respond: tls \(ERR_TLS_CERT_ALTNAME_INVALID\)\.$/,
      { domain: "other.acme.test" },
    ],
    [
      "refuses connections",
      /doesn't respond: refused \(ECONNREFUSED\)\.$/,
      { publicBaseUrl: `https://${HOST}:${CLOSED_PORT}` },
    ],
    [
      "is checked without SECRETS_KEY",
      /can't be checked without SECRETS_KEY\.$/,
      { secretsKey: Effect.fail("no key") },
    ],
    ["is checked without PUBLIC_BASE_URL", /: PUBLIC_BASE_URL has no host name/, { publicBaseUrl: null }],
    [
      "is checked with an IP address in PUBLIC_BASE_URL",
      /: PUBLIC_BASE_URL has no host name/,
      { publicBaseUrl: "https://192.0.2.1" },
    ],
  ])("fail if it %s", async (_, found, options, respond = prove) => {
    const failed = (await look(await serve(respond), options)).filter((each) => each.startsWith("failed"))
    expect(failed).toContainEqual(expect.stringMatching(found))
  })
})
