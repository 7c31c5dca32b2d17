import { generateKeyPairSync } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import tls from "node:tls"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { LINK_DOMAIN_PROOF_PATH, proveLinkDomain } from "@outreach/domain/senders/linkDomainProof"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { dnsServer } from "@outreach/testing/dnsServer"
import { listen } from "@outreach/testing/listen"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import type { Answer } from "dns-packet"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-link-domains-"))
afterAll(() => rmSync(folder, { recursive: true }))

const DOMAIN = "click.acme.test"
const HOST = "api.outreach.test"
const data = (name: string) =>
  readFileSync(new URL(`../../../packages/backoffice/test/senders/data/${name}`, import.meta.url), "utf8")
const seal = Effect.runSync(Effect.provide(TrackingSeal, NodeTrackingSeal(SECRETS_RING)))

// Making a key takes much longer than all else.
const KEY = join(folder, "dkim.pem")
writeFileSync(
  KEY,
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
)

let port: number
let status = 200
const trusted = tls.getCACertificates("default")
beforeAll(async () => {
  tls.setDefaultCACertificates([...trusted, data("authority.pem")])
  const pem = data("click.acme.test.pem")
  const server = createServer({ cert: pem, key: pem }, ({ url }, response) => {
    const challenge = url!.slice(LINK_DOMAIN_PROOF_PATH.length)
    response.writeHead(status).end(proveLinkDomain(seal, DOMAIN, challenge))
  })
  port = await listen(server, afterAll)
})
afterAll(() => tls.setDefaultCACertificates(trusted))

/** Runs a command line with `--output json`, and returns its value or its error. */
const ops = async (...args: ReadonlyArray<string>) => {
  const { stdout, stderr } = await run([...args, "--output", "json"], {
    ...{ PUBLIC_BASE_URL: `https://${HOST}:${port}`, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
    MAIL_FROM: "outreach@deployment.test",
  })
  expect(stderr).toBe("")
  const value = JSON.parse(stdout)
  return value.error ?? value
}

const add = async (...args: ReadonlyArray<string>) => {
  const { organization, campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
  const flags = ["--organization", organization.id, "--from", "Acme Health <outreach@acme.test>", "--dkim-key", KEY]
  return { organization, campaign, sender: await ops("senders", "create", ...flags, ...args) }
}

interface DnsRecord {
  readonly name: string
  readonly type: "TXT" | "MX" | "CNAME"
  readonly values: ReadonlyArray<string>
}

/** Publishes a sender's records. A resolver returns the address of the name that a CNAME record points to. */
const publish = (records: ReadonlyArray<DnsRecord>) =>
  dnsServer([
    ...records.map(
      ({ name, type, values }): Answer =>
        type === "CNAME"
          ? { type, name, data: values[0]!.slice(0, -1) }
          : { type: "TXT", name, data: values.map((value) => value.replace(/<.*>/, "mailto.test")) },
    ),
    { type: "A", name: DOMAIN, data: "127.0.0.1" },
  ])

const linkBaseOf = async (campaignId: string) => {
  const { eml } = await ops("campaigns", "preview", campaignId, "--out", folder)
  return /List-Unsubscribe:[^\n]*?<(https:[^>]+)\/unsubscribe\//.exec(
    readFileSync(eml, "utf8").replaceAll(/\r\n\s/g, ""),
  )?.[1]
}

describe("a link domain", () => {
  it("is printed as a CNAME record, contains the links once it is verified, and is removed after a confirmation", async () => {
    const { sender, campaign, organization } = await add("--link-domain", DOMAIN)
    expect(sender).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: null })
    expect(sender.dns_records).toContainEqual({ name: DOMAIN, type: "CNAME", values: [`${HOST}.`] })
    const { stdout } = await run(["senders", "show", sender.id])
    expect(stdout).toContain(`${DOMAIN}. IN CNAME <host of PUBLIC_BASE_URL>.`)
    const dns = await publish(sender.dns_records)
    const doctor = async () => {
      const { checks } = await ops("doctor", "--dns-server", dns)
      return checks.flatMap(({ check, status, found }: Record<string, string>) =>
        check === "senders" ? [`${status}: ${found}`] : [],
      )
    }
    // The doctor checks the senders of other tests, too.
    const pending = [`The key of ${sender.id} signs nothing yet.`, `No link of ${sender.id} stands on ${DOMAIN} yet.`]
    const warnings = pending.map((found) => `warning: ${found}`)
    expect(await doctor()).toEqual(expect.arrayContaining(warnings))
    await meanwhile(
      SqlClient.SqlClient.use((sql) => sql`update senders set live_since = clock_timestamp() where id = ${sender.id}`),
    )
    expect(await linkBaseOf(campaign.id)).toBe(`https://${HOST}:${port}`)

    const verify = ["senders", "verify", sender.id, "--dns-server", dns]
    status = 404
    expect(await ops(...verify)).toMatchObject({ code: "sender_not_verified" })
    status = 200
    const verified = await ops(...verify)
    expect(verified).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: expect.any(String) })
    expect(verified.checks.map(({ status }: Record<string, string>) => status)).toEqual(Array(4).fill("ok"))
    expect(await linkBaseOf(campaign.id)).toBe(`https://${DOMAIN}:${port}`)
    const listed = { domain: DOMAIN, organization_id: organization.id, verified_at: expect.any(String) }
    expect((await ops("link-domains", "list")).data).toContainEqual(expect.objectContaining(listed))
    const checked = await doctor()
    expect(checked).toContainEqual(expect.stringMatching(/^ok: The DNS records of 1 of \d senders? are right\.$/))
    for (const warning of warnings) expect(checked).not.toContain(warning)

    const remove = ["link-domains", "remove", DOMAIN]
    expect(await ops(...remove, "--yes")).toMatchObject({ code: "link_domain_in_use", sender_id: sender.id })
    await ops("senders", "remove", sender.id, "--yes")
    expect(await ops(...remove)).toMatchObject({ code: "not_confirmed" })
    expect(await ops(...remove, "--yes")).toMatchObject({ removed: true })
  })

  it("is stored in ASCII and lower case, and is a domain name", async () => {
    expect((await add("--link-domain", "Click.BÜRO.test")).sender).toMatchObject({
      link_domain: "click.xn--bro-hoa.test",
    })
    for (const domain of ["click", "https://click.acme.test", "click.acme.test/x", "127.0.0.1", "*.acme.test"]) {
      const flags = ["--organization", `org_${"0".repeat(32)}`, "--from", "a@acme.test", "--link-domain", domain]
      expect([domain, await ops("senders", "create", ...flags)]).toMatchObject([domain, { code: "usage" }])
    }
  })
})
