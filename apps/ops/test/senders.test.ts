import { generateKeyPairSync } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SenderId } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { dnsServer } from "@outreach/testing/dnsServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import type { Answer } from "dns-packet"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

interface DnsRecord {
  readonly name: string
  readonly type: string
  readonly values: ReadonlyArray<string>
}

/** Publishes the records that a command has printed, with what the operator fills in. */
const published = (records: ReadonlyArray<DnsRecord>): ReadonlyArray<Answer> =>
  records.map(
    ({ name, type, values }): Answer =>
      type === "MX"
        ? { type: "MX", name, data: { preference: 10, exchange: "mx.acme.test" } }
        : { type: "TXT", name, data: values.map((value) => value.replace(/<.*>/, "mailto.test")) },
  )

beforeEach(() => meanwhile(SqlClient.SqlClient.use((sql) => sql`truncate organizations, webhook_endpoints cascade`)))

const seed = () => meanwhile(seedCampaign({ recipients: 1 }))

const add = (organization: string, ...args: ReadonlyArray<string>) =>
  runJson("senders", "create", "--organization", organization, "--from", "Acme Health <outreach@acme.test>", ...args)

const states = (sender: { readonly keys: ReadonlyArray<{ readonly selector: string; readonly state: string }> }) =>
  sender.keys.map(({ selector, state }) => [selector, state])

describe("senders", () => {
  it("is added with a key of its own, and prints the records to publish and no private key", async () => {
    const { organization } = await seed()
    const { code, stdout, stderr } = await run([
      ...["senders", "create", "--organization", organization.id, "--from", "Büro <outreach@büro.test>"],
      ...["--bounce-domain", "bounces.büro.test", "--selector", "s1"],
    ])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^s1\._domainkey\.xn--bro-hoa\.test\. IN TXT "v=DKIM1; k=rsa; p=[^"]{237}" "[^"]{155}"$/m,
      ),
    })
    expect(stdout).toMatch(/^_dmarc\.xn--bro-hoa\.test\. IN TXT "v=DMARC1; /m)
    expect(stdout).toMatch(/^bounces\.xn--bro-hoa\.test\. IN TXT "v=spf1 include:/m)
    expect(stdout).toMatch(/^bounces\.xn--bro-hoa\.test\. IN MX 10 /m)
    expect(stderr).toMatch(/Publish the DNS records, and then run `ops senders verify snd_[0-9a-f]{32}`/)
    expect(stdout + stderr).not.toContain("PRIVATE")
  })

  it("is live once its records are found, names the campaign, and is checked by the doctor", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--bounce-domain", "bounces.acme.test", "--reply-to", "help@acme.test")
    expect(sender).toMatchObject({ live_since: null, keys: [{ state: "pending" }], dkim_domain: "acme.test" })
    expect(await runJson("campaigns", "show", campaign.id)).toMatchObject({ sender_id: null, from: null })

    const nobody = await dnsServer([])
    const missing = await runFailing("senders", "verify", sender.id, "--dns-server", nobody)
    expect(missing).toMatchObject({ code: "sender_not_verified", exit: 1 })
    expect(missing.checks.map(({ status, found }: Record<string, string>) => `${status}: ${found}`)).toEqual([
      `failed: There is no DKIM record at ${sender.keys[0].selector}._domainkey.acme.test.`,
      "warning: There is no DMARC record for acme.test.",
      "failed: There is no SPF record at bounces.acme.test.",
      "failed: The domain bounces.acme.test has neither an MX record nor an address.",
    ])
    expect(await runJson("senders", "show", sender.id)).toMatchObject({ live_since: null })

    const dns = await dnsServer(published(sender.dns_records))
    const doctor = async (server: string) => {
      const { stdout } = await run(["doctor", "--output", "json", "--dns-server", server])
      const value = JSON.parse(stdout)
      const checks: ReadonlyArray<Record<string, string>> = (value.error ?? value).checks
      return checks.flatMap(({ check, status, found }) => (check === "senders" ? [`${status}: ${found}`] : []))
    }
    expect(await doctor(dns)).toEqual([`warning: The key of ${sender.id} signs nothing yet.`])
    const verified = await runJson("senders", "verify", sender.id, "--dns-server", dns)
    expect(verified).toMatchObject({ id: sender.id, live_since: expect.any(String) })
    expect(await doctor(dns)).toEqual(["ok: The DNS records of 1 of 1 sender are right."])
    expect((await doctor(nobody))[0]).toMatch(/^failed: There is no DKIM record at /)
    expect(await runJson("campaigns", "show", campaign.id)).toMatchObject({
      sender_id: sender.id,
      from: "Acme Health <outreach@acme.test>",
    })
    expect((await runJson("senders", "list", "--organization", organization.id)).data).toMatchObject([
      { id: sender.id, from: "Acme Health <outreach@acme.test>", selectors: [sender.keys[0].selector] },
    ])
    await runJson("senders", "remove", sender.id, "--yes")
  })

  it("gets another domain while it is live only once the records of that are found", async () => {
    const { organization } = await seed()
    const sender = await add(organization.id, "--selector", "s1")
    const records = published(sender.dns_records)
    await runJson("senders", "verify", sender.id, "--dns-server", await dnsServer(records))
    const update = (server: string, ...flags: ReadonlyArray<string>) => [
      ...["senders", "update", sender.id, "--dns-server", server, ...flags],
    ]
    const nobody = await dnsServer([])
    const name = ["--from", "Acme <hello@acme.test>", "--reply-to", "help@acme.test"]
    expect(await runJson(...update(nobody, ...name))).toMatchObject({ from_address: "hello@acme.test" })

    const bounces = ["--bounce-domain", "b.acme.test"]
    const refused = await runFailing(...update(await dnsServer(records), ...bounces))
    expect(refused).toMatchObject({ code: "sender_not_verified", exit: 1 })
    expect(refused.message).toContain("nothing was changed")
    expect(await runFailing(...update(nobody, "--from", "hello@news.acme.test"))).toMatchObject({
      code: "sender_not_verified",
    })
    expect(await runJson("senders", "show", sender.id)).toMatchObject({
      ...{ from_address: "hello@acme.test", bounce_domain: null, live_since: expect.any(String) },
    })

    const more: ReadonlyArray<Answer> = [
      { type: "TXT", name: "b.acme.test", data: "v=spf1 include:mailto.test ~all" },
      { type: "MX", name: "b.acme.test", data: { preference: 10, exchange: "mx.acme.test" } },
    ]
    const dns = await dnsServer([...records, ...more])
    expect(await runJson(...update(dns, ...bounces))).toMatchObject({
      ...{ bounce_domain: "b.acme.test", live_since: expect.any(String) },
    })
    expect(await runJson(...update(nobody, "--bounce-domain", "none"))).toMatchObject({ bounce_domain: null })
  })

  it("rotates its key: the next one signs once it is published, beside the older one, which then ends", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--selector", "s1")
    await runJson("senders", "verify", sender.id, "--dns-server", await dnsServer(published(sender.dns_records)))
    const rotated = await runJson("senders", "rotate-dkim", sender.id, "--selector", "s2")
    expect(states(rotated)).toEqual([
      ["s2", "pending"],
      ["s1", "signing"],
    ])
    const signing = async () => {
      const identity = await meanwhile(SenderRepository.use(({ identityOf }) => identityOf(campaign.id)))
      return identity?.dkim?.keys.map(({ selector }) => selector)
    }
    expect(await signing()).toEqual(["s1"])
    const older = await dnsServer(published(sender.dns_records))
    expect(await runFailing("senders", "verify", sender.id, "--dns-server", older)).toMatchObject({ exit: 1 })
    expect(await signing()).toEqual(["s1"])

    await runJson("senders", "verify", sender.id, "--dns-server", await dnsServer(published(rotated.dns_records)))
    expect(await signing()).toEqual(["s2", "s1"])
    expect(states(await runJson("senders", "show", sender.id))).toEqual([
      ["s2", "signing"],
      ["s1", "signing beside the next"],
    ])
    const age = (days: number) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql`
            update dkim_keys set signs_until = signs_until - make_interval(days => ${days}::int) where sender_id = ${sender.id}`,
        ),
      )
    await age(3)
    expect(await signing()).toEqual(["s2"])
    const ended = await runJson("senders", "show", sender.id)
    expect(states(ended)[1]).toEqual(["s1", "signs no more, its record is still needed"])
    expect(ended.dns_records.map(({ name }: DnsRecord) => name)).toContain("s1._domainkey.acme.test")
    await age(7)
    const over = await runJson("senders", "show", sender.id)
    expect(states(over)[1]).toEqual(["s1", "over"])
    expect(over.dns_records.map(({ name }: DnsRecord) => name)).not.toContain("s1._domainkey.acme.test")
    expect(await runFailing("senders", "rotate-dkim", sender.id, "--selector", "s2")).toMatchObject({
      code: "selector_taken",
    })
    const third = await runJson("senders", "rotate-dkim", sender.id, "--selector", "s3")
    const dns = await dnsServer(published(third.dns_records))
    expect(states(await runJson("senders", "rotate-dkim", sender.id, "--selector", "s4"))[0]).toEqual(["s4", "pending"])
    expect(await runFailing("senders", "verify", sender.id, "--dns-server", dns)).toMatchObject({ exit: 1 })
    await runJson("senders", "remove", sender.id, "--yes")
  })

  it("takes a key from a file, and says nothing of what it holds", async () => {
    const { organization } = await seed()
    const folder = mkdtempSync(join(tmpdir(), "outreach-"))
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const [good, bad] = [join(folder, "good.pem"), join(folder, "bad.pem")]
    writeFileSync(good, privateKey.export({ type: "pkcs1", format: "pem" }))
    writeFileSync(bad, "hunter2")
    const args = ["senders", "create", "--organization", organization.id, "--from", "outreach@acme.test"]
    const error = await runFailing(...args, "--dkim-key", bad)
    expect(error).toMatchObject({ code: "dkim_key_unusable" })
    expect(JSON.stringify(error)).not.toContain("hunter2")
    expect(await runFailing(...args, "--dkim-key", join(folder, "none"))).toMatchObject({ reason: "cannot be read" })
    const sender = await runJson(...args, "--dkim-key", good)
    expect(sender.keys[0].public_key).toBe(publicKey.export({ type: "spki", format: "der" }).toString("base64"))
    const stored = await meanwhile(
      SqlClient.SqlClient.use(
        (sql) =>
          sql<{
            text: string
          }>`select encode(ciphertext, 'escape') as text from dkim_keys where sender_id = ${sender.id}`,
      ),
    )
    expect(stored[0]!.text).not.toContain("PRIVATE")
    const audit = JSON.stringify((await runJson("audit", "list")).data)
    expect(audit).toContain("senders create")
    for (const secret of [folder, "outreach@acme.test", "PRIVATE"]) expect(audit).not.toContain(secret)
  })

  it("of a program takes precedence over its organization's, which takes precedence over the deployment's", async () => {
    const { organization, program, campaign } = await seed()
    const makeLive = async (...args: ReadonlyArray<string>) => {
      const { id } = await add(organization.id, ...args)
      await meanwhile(SenderRepository.use(({ activate }) => activate(SenderId.make(id))))
      return id
    }
    const senderOf = async () => (await runJson("campaigns", "show", campaign.id)).sender_id
    expect(await senderOf()).toBe(null)
    const own = await makeLive()
    expect(await senderOf()).toBe(own)
    const ofProgram = await makeLive("--program", program.id)
    expect(await senderOf()).toBe(ofProgram)
    await runJson("senders", "remove", ofProgram, "--yes")
    expect(await senderOf()).toBe(own)
    expect(
      await runFailing("senders", "create", "--organization", organization.id, "--from", "a@b.test"),
    ).toMatchObject({
      code: "sender_exists",
      sender_id: own,
    })
    expect(await runFailing("senders", "remove", own)).toMatchObject({ code: "not_confirmed" })
  })

  it("refuses domains that do not count for DMARC, and an organization or program that does not exist", async () => {
    const { organization } = await seed()
    const args = ["senders", "create", "--organization", organization.id, "--from", "outreach@news.acme.test"]
    expect(await runFailing(...args, "--dkim-domain", "relay.test")).toMatchObject({
      code: "sender_not_aligned",
      message:
        "The DKIM domain relay.test is not aligned with the From domain news.acme.test: it must be the same, or one above or below it, so that it counts for DMARC.",
    })
    expect(await runFailing(...args, "--bounce-domain", "news.other.test")).toMatchObject({ role: "bounce domain" })
    expect(await runFailing(...args, "--program", `pgm_${"0".repeat(32)}`)).toMatchObject({ code: "program_not_found" })
    const nobody = `org_${"0".repeat(32)}`
    expect(await runFailing("senders", "create", "--organization", nobody, "--from", "a@acme.test")).toMatchObject({
      code: "organization_not_found",
    })
    expect((await run([...args.slice(0, -1), "büro@acme.test"])).code).toBe(2)
    expect((await run([...args, "--reply-to", "büro@acme.test"])).code).toBe(2)
    const sender = await runJson(...args, "--dkim-domain", "acme.test")
    expect(await runFailing("senders", "update", sender.id, "--from", "outreach@other.test")).toMatchObject({
      code: "sender_not_aligned",
    })
    expect(await runFailing("senders", "update", sender.id)).toMatchObject({ code: "nothing_to_update" })
    expect(
      await runJson("senders", "update", sender.id, "--from", "Acme <a@acme.test>", "--bounce-domain", "b.acme.test"),
    ).toMatchObject({ from_name: "Acme", from_address: "a@acme.test", bounce_domain: "b.acme.test", reply_to: null })
    expect(await runFailing("senders", "show", `snd_${"0".repeat(32)}`)).toMatchObject({ code: "sender_not_found" })
  })

  it("is previewed and tested in its own name", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--bounce-domain", "b.acme.test", "--selector", "s1")
    await meanwhile(SenderRepository.use(({ activate }) => activate(SenderId.make(sender.id))))
    const folder = mkdtempSync(join(tmpdir(), "outreach-"))
    const { eml } = await runJson("campaigns", "preview", campaign.id, "--out", folder)
    const { mailServer } = await import("@outreach/testing/mailServer")
    const { readFileSync } = await import("node:fs")
    expect(readFileSync(eml, "utf8")).toContain("From: Acme Health <outreach@acme.test>")
    const server = await mailServer()
    const { code } = await run(["campaigns", "test", campaign.id, "--to", "me@clinic.test", "--output", "json"], {
      SMTP_URL: server.url,
      MAIL_FROM: "other@deployment.test",
    })
    expect({ code, from: server.messages[0]?.from }).toEqual({
      code: 0,
      from: expect.stringMatching(/^bounce-[0-9a-f]{32}-\w+@b\.acme\.test$/),
    })
    const { text } = server.messages[0]!
    for (const part of ["d=acme.test;", "s=s1;", "From: Acme Health <outreach@acme.test>"]) expect(text).toContain(part)
    expect(text).toMatch(/^Message-ID: <rcp_[0-9a-f]{32}@acme\.test>/m)
  })

  it("has a ramp, whose day is shown, which begins anew and is taken away", async () => {
    const { organization, campaign } = await seed()
    const sender = await add(organization.id, "--ramp", "200,400,800")
    const ramp = { daily: "200,400,800", day: 1, sent_today: 0, allowed_today: 200 }
    expect(sender.ramp).toEqual(ramp)
    await meanwhile(SenderRepository.use(({ activate }) => activate(SenderId.make(sender.id))))
    const count = (sent: number, daysAgo: number) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql`
            update sender_ramps set sent = ${sent}, counted_on = date(clock_timestamp() at time zone 'UTC') - ${daysAgo}::int`,
        ),
      )
    const shown = async () => (await run(["senders", "list", "--organization", organization.id])).stdout
    await count(120, 0)
    expect(await runJson("campaigns", "show", campaign.id)).toMatchObject({ ramp: { ...ramp, sent_today: 120 } })
    expect((await runJson("senders", "list")).data).toMatchObject([{ id: sender.id, ramp: { sent_today: 120 } }])
    expect(await shown()).toContain("day 1 of 3: 120 of 200 sent")
    await count(200, 0)
    const waits = "day 1 of 3: 200 of 200 sent, the next at 00:00 UTC"
    expect(await shown()).toContain(waits)
    expect((await run(["campaigns", "show", campaign.id])).stdout).toContain(waits)
    await count(200, 1)
    expect(await shown()).toContain("day 2 of 3: 0 of 400 sent")

    const anew = await runJson("senders", "update", sender.id, "--ramp", "50,50")
    expect(anew.ramp).toEqual({ daily: "50,50", day: 1, sent_today: 0, allowed_today: 50 })
    const { stdout } = await run(["senders", "update", sender.id, "--ramp", "60,70"])
    expect(stdout).toContain("day 1 of 2: 0 of 60 sent")
    expect(JSON.stringify((await runJson("audit", "list")).data)).toContain('"ramp":"60,70"')
    expect(await runJson("senders", "update", sender.id, "--ramp", "none")).toMatchObject({ ramp: null })
  })

  it.each(["200,0", "abc", "400,200", "200,", Array(91).fill(1).join(",")])("refuses the ramp %s", async (ramp) => {
    const { organization } = await seed()
    const args = ["senders", "create", "--organization", organization.id, "--from", "a@acme.test", "--ramp", ramp]
    const { code, stderr } = await run(args)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        "a ramp such as 200,400,800: at most 90 whole numbers from 1 to 10000000, none of them smaller than the one before",
      ),
    })
  })
})
