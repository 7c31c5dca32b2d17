import { generateKeyPairSync } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SenderId } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { CLOSED_PORT } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"
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
    expect(error).toMatchObject({ code: "unusable_file" })
    expect(JSON.stringify(error)).not.toContain("hunter2")
    expect(error.message).toMatch(/ is not an RSA key of at least 1024 bits/)
    expect(await runFailing(...args, join(folder, "none"))).toMatchObject({ reason: "does not exist" })
    const sender = await runJson(...args, KEY)
    expect(sender.keys[0].public_key).toBe(publicKey.export({ type: "spki", format: "der" }).toString("base64"))
    const [stored] = await meanwhile(
      sql<{ text: string }>`select encode(ciphertext, 'escape') as text from dkim_keys where sender_id = ${sender.id}`,
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
        update senders set ramp_sent = 200, ramp_counted_on = date(clock_timestamp() at time zone 'UTC')
        where id = ${sender.id}`,
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

it("a link domain is printed as a CNAME record, and is checked by `senders verify` and `doctor`", async () => {
  const settings = {
    ...{ PUBLIC_BASE_URL: `https://api.outreach.test:${CLOSED_PORT}`, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
    MAIL_FROM: "outreach@deployment.test",
  }
  const ops = async (...args: ReadonlyArray<string>) => {
    const value = JSON.parse((await run([...args, "--output", "json"], settings)).stdout)
    return value.error ?? value
  }
  const { organization } = await seed()
  const sender = await ops(...creating(organization.id, "outreach@acme.test", "--link-domain", "click.acme.test"))
  expect(sender).toMatchObject({ link_domain: "click.acme.test", link_domain_verified_at: null })
  expect(sender.dns_records).toContainEqual({ name: "click.acme.test", type: "CNAME", values: ["api.outreach.test."] })
  const { stdout } = await run(["senders", "show", sender.id])
  expect(stdout).toContain("click.acme.test. IN CNAME <host of PUBLIC_BASE_URL>.")

  const dns = await publishRecords(sender)
  // The doctor also checks the senders of other tests.
  const doctor = async (): Promise<ReadonlyArray<string>> =>
    (await ops("doctor", "--dns-server", dns)).checks.map(
      ({ status, found }: Record<string, string>) => `${status}: ${found}`,
    )
  const pending = [
    `warning: The key of ${sender.id} signs nothing yet.`,
    `warning: No link of ${sender.id} stands on click.acme.test yet.`,
  ]
  expect(await doctor()).toEqual(expect.arrayContaining(pending))
  const unreachable = `https://click.acme.test:${CLOSED_PORT} doesn't respond: refused (ECONNREFUSED).`
  const refused = await ops("senders", "verify", sender.id, "--dns-server", dns)
  expect(refused).toMatchObject({ code: "sender_not_verified", message: expect.stringContaining(unreachable) })

  await meanwhile(sql`update link_domains set verified_at = clock_timestamp() where domain = 'click.acme.test'`)
  expect(await doctor()).toContain(`failed: ${unreachable}`)
  await ops("senders", "update", sender.id, "--link-domain", "none")
  await ops("senders", "verify", sender.id, "--dns-server", dns)
  const checked = await doctor()
  expect(checked).toContainEqual(expect.stringMatching(/^ok: The DNS records of 1 of \d senders? are right\.$/))
  for (const warning of pending) expect(checked).not.toContain(warning)
})
