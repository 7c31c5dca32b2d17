import { generateKeyPairSync } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import { join } from "node:path"
import tls from "node:tls"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { SenderId } from "@outreach/domain/Identifier"
import { LINK_DOMAIN_PROOF_PATH, proveLinkDomain } from "@outreach/domain/senders/linkDomainProof"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"
import { publishRecords } from "./publishRecords.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = temporaryFolder("ops-senders", afterAll)

// Creating a key takes most of the time.
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const KEY = join(folder, "dkim.pem")
writeFileSync(KEY, privateKey.export({ type: "pkcs1", format: "pem" }))
const KEY_FLAGS = ["--dkim-key", KEY]

const seed = () => meanwhile(seedCampaign({ recipients: 1 }))

const creating = (organization: string, from: string, ...args: ReadonlyArray<string>) => [
  ...["senders", "create", "--organization", organization, "--from", from, ...KEY_FLAGS],
  ...args,
]
const add = (organization: string, ...args: ReadonlyArray<string>) =>
  runJson(...creating(organization, "Acme Health <outreach@acme.test>", ...args))
const activate = (id: string) => meanwhile(SenderRepository.use(({ activate }) => activate(SenderId.make(id))))

describe("senders create", () => {
  it("makes a key, and prints the records to publish without the private key", async () => {
    const { organization } = await seed()
    const { code, stdout, stderr } = await run([
      ...["senders", "create", "--organization", organization.id, "--from", "Büro <outreach@büro.test>"],
      ...["--bounce-domain", "bounces.büro.test", "--selector", "s1"],
    ])
    expect(code).toBe(0)
    for (const line of [
      /^s1\._domainkey\.xn--bro-hoa\.test\. IN TXT "v=DKIM1; k=rsa; p=[^"]{237}" "[^"]{155}"$/m,
      /^_dmarc\.xn--bro-hoa\.test\. IN TXT "v=DMARC1; /m,
      /^bounces\.xn--bro-hoa\.test\. IN TXT "v=spf1 include:/m,
      /^bounces\.xn--bro-hoa\.test\. IN MX 10 /m,
    ]) {
      expect(stdout).toMatch(line)
    }
    expect(stderr).toContain("Publish its DNS records, then verify it.")
    expect(stdout + stderr).not.toContain("PRIVATE")
  })

  it("accepts a key from a file, which it encrypts, and never prints its content", async () => {
    const { organization } = await seed()
    const bad = join(folder, "bad.pem")
    writeFileSync(bad, "hunter2")
    const args = ["senders", "create", "--organization", organization.id, "--from", "outreach@acme.test", "--dkim-key"]
    const error = await runFailing(...args, bad)
    expect(error).toMatchObject({ code: "dkim_key_unusable" })
    expect(JSON.stringify(error)).not.toContain("hunter2")
    expect(await runFailing(...args, join(folder, "none"))).toMatchObject({ reason: "cannot be read" })
    const sender = await runJson(...args, KEY)
    expect(sender.keys[0].public_key).toBe(publicKey.export({ type: "spki", format: "der" }).toString("base64"))
    const [stored] = await meanwhile(
      sql<{ text: string }>`
        select encode(ciphertext, 'escape') as text from dkim_keys where sender_id = ${sender.id}`,
    )
    expect(stored!.text).not.toContain("PRIVATE")
    const audit = JSON.stringify((await runJson("audit", "list", "--limit", "1")).data)
    expect(audit).toContain("senders create")
    for (const secret of [folder, "outreach@acme.test", "PRIVATE"]) expect(audit).not.toContain(secret)
  })
})

describe("a sender", () => {
  it("signs previews and test messages", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--bounce-domain", "b.acme.test", "--selector", "s1")
    await activate(sender.id)
    const { eml } = await runJson("campaigns", "preview", campaign.id, "--out", folder)
    expect(readFileSync(eml, "utf8")).toContain("From: Acme Health <outreach@acme.test>")
    const server = await mailServer()
    const settings = { SMTP_URL: server.url, MAIL_FROM: "other@deployment.test" }
    expect((await run(["campaigns", "test", campaign.id, "--to", "me@clinic.test"], settings)).code).toBe(0)
    const [{ from, text }] = server.messages as [(typeof server.messages)[0]]
    expect(from).toMatch(/^bounce-[0-9a-f]{32}-\w+@b\.acme\.test$/)
    for (const part of ["d=acme.test;", "s=s1;", "From: Acme Health <outreach@acme.test>"]) expect(text).toContain(part)
    expect(text).toMatch(/^Message-ID: <rcp_[0-9a-f]{32}@acme\.test>/m)
  })

  it("has a ramp, whose day its list and its campaigns show, and which the audit log records", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--ramp", "200,400,800")
    expect(sender.ramp).toEqual({ daily: "200,400,800", day: 1, sent_today: 0, allowed_today: 200 })
    await activate(sender.id)
    await meanwhile(
      sql`
        update sender_ramps set sent = 200, counted_on = date(clock_timestamp() at time zone 'UTC')
        where sender_id = ${sender.id}`,
    )
    for (const command of [
      ["senders", "list", "--organization", organization.id],
      ["campaigns", "show", campaign.id],
    ]) {
      expect((await run(command)).stdout).toContain("day 1 of 3: 200 of 200 sent, the next at 00:00 UTC")
    }
    await runJson("senders", "update", sender.id, "--ramp", "50,50")
    const audited = { arguments: { sender: sender.id, ramp: "50,50" } }
    expect((await runJson("audit", "list", "--limit", "1")).data).toMatchObject([audited])
    expect(await runJson("senders", "update", sender.id, "--ramp", "none")).toMatchObject({ ramp: null })
  })
})

const DOMAIN = "click.acme.test"
const HOST = "api.outreach.test"
const data = (name: string) =>
  readFileSync(new URL(`../../../packages/backoffice/test/senders/data/${name}`, import.meta.url), "utf8")
const seal = Effect.runSync(Effect.provide(TrackingSeal, NodeTrackingSeal(SECRETS_RING)))

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

const addWith = async (...args: ReadonlyArray<string>) => {
  const { organization, campaign } = await seed()
  const flags = ["--organization", organization.id, "--from", "Acme Health <outreach@acme.test>", ...KEY_FLAGS]
  return { campaign, sender: await ops("senders", "create", ...flags, ...args) }
}

const linkBaseOf = async (campaignId: string) => {
  const { eml } = await ops("campaigns", "preview", campaignId, "--out", folder)
  return /List-Unsubscribe:[^\n]*?<(https:[^>]+)\/unsubscribe\//.exec(
    readFileSync(eml, "utf8").replaceAll(/\r\n\s/g, ""),
  )?.[1]
}

it("a link domain is printed as a CNAME record, contains the links once it is verified, and is removed after a confirmation", async () => {
  const { sender, campaign } = await addWith("--link-domain", DOMAIN)
  expect(sender).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: null })
  expect(sender.dns_records).toContainEqual({ name: DOMAIN, type: "CNAME", values: [`${HOST}.`] })
  const { stdout } = await run(["senders", "show", sender.id])
  expect(stdout).toContain(`${DOMAIN}. IN CNAME <host of PUBLIC_BASE_URL>.`)
  const dns = await publishRecords(sender)
  const doctor = async () => {
    const { checks } = await ops("doctor", "--dns-server", dns)
    return checks.flatMap(({ check, status, found }: Record<string, string>) =>
      check === "senders" ? [`${status}: ${found}`] : [],
    )
  }
  // The doctor also checks the senders of other tests.
  const pending = [`The key of ${sender.id} signs nothing yet.`, `No link of ${sender.id} stands on ${DOMAIN} yet.`]
  const warnings = pending.map((found) => `warning: ${found}`)
  expect(await doctor()).toEqual(expect.arrayContaining(warnings))
  await meanwhile(sql`update senders set live_since = clock_timestamp() where id = ${sender.id}`)
  expect(await linkBaseOf(campaign.id)).toBe(`https://${HOST}:${port}`)

  const verify = ["senders", "verify", sender.id, "--dns-server", dns]
  status = 404
  expect(await ops(...verify)).toMatchObject({ code: "sender_not_verified" })
  status = 200
  expect(await ops("campaigns", "show", campaign.id)).toMatchObject({ sender_id: sender.id })
  const verified = await ops(...verify)
  expect(verified).toMatchObject({ link_domain: DOMAIN, link_domain_verified_at: expect.any(String) })
  expect(verified.checks.map(({ status }: Record<string, string>) => status)).toEqual(Array(4).fill("ok"))
  expect(await linkBaseOf(campaign.id)).toBe(`https://${DOMAIN}:${port}`)
  expect((await ops("senders", "list", "--organization", sender.organization_id)).data).toMatchObject([
    { id: sender.id, from: "Acme Health <outreach@acme.test>", selectors: [sender.keys[0].selector] },
  ])
  const checked = await doctor()
  expect(checked).toContainEqual(expect.stringMatching(/^ok: The DNS records of 1 of \d senders? are right\.$/))
  for (const warning of warnings) expect(checked).not.toContain(warning)

  const remove = ["link-domains", "remove", DOMAIN]
  expect(await ops(...remove, "--yes")).toMatchObject({ code: "link_domain_in_use", sender_id: sender.id })
  await ops("senders", "remove", sender.id, "--yes")
  expect(await ops(...remove)).toMatchObject({ code: "not_confirmed" })
  expect(await ops(...remove, "--yes")).toMatchObject({ removed: true })
})
