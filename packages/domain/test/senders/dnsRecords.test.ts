import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { DkimKeyId, OrganizationId, SenderId } from "../../src/Identifier.ts"
import { dnsRecords, formatDnsRecord } from "../../src/senders/dnsRecords.ts"
import type { DkimKey, Sender } from "../../src/senders/Sender.ts"
import { isAligned } from "../../src/senders/Sender.ts"
import { Timestamp } from "../../src/Timestamp.ts"

const now = Timestamp.make("2026-11-23T00:00:00.000001Z")
const key = (selector: string, change: Partial<DkimKey> = {}): DkimKey => ({
  id: "dkm_1" as DkimKeyId,
  selector,
  publicKey: "MIIB",
  createdAt: now,
  signsFrom: now,
  signsUntil: null,
  isSigning: true,
  isOver: false,
  ...change,
})
const sender = (change: Partial<Sender> = {}): Sender => ({
  organizationId: "org_1" as OrganizationId,
  id: "snd_1" as SenderId,
  programId: null,
  ramp: null,
  fromName: "Acme",
  fromAddress: "outreach@news.acme.test",
  replyTo: null,
  dkimDomain: "acme.test",
  bounceDomain: "b.acme.test",
  linkDomain: "click.acme.test",
  linkDomainVerifiedAt: null,
  liveSince: null,
  createdAt: now,
  updatedAt: now,
  keys: [key("s2"), key("s1", { isSigning: false })],
  ...change,
})

describe("the DNS records of a sender", () => {
  it("are those of its keys, of its From domain, of its bounce domain, and of its link domain", () => {
    expect(dnsRecords(sender(), "api.outreach.test").map(({ name, type }) => `${type} ${name}`)).toEqual([
      "TXT s2._domainkey.acme.test",
      "TXT s1._domainkey.acme.test",
      "TXT _dmarc.news.acme.test",
      "TXT b.acme.test",
      "MX b.acme.test",
      "CNAME click.acme.test",
    ])
  })

  it("leave out a key that is over, and the bounce and link domains of the deployment", () => {
    const names = dnsRecords(
      sender({ bounceDomain: null, linkDomain: null, keys: [key("s2"), key("s1", { isOver: true })] }),
      null,
    )
    expect(names.map(({ name }) => name)).toEqual(["s2._domainkey.acme.test", "_dmarc.news.acme.test"])
  })

  it("split a key of any length into strings of at most 255 bytes", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9+/]{1,1200}$/), (publicKey) => {
        const [record] = dnsRecords(sender({ keys: [key("s1", { publicKey })] }), null)
        expect(record!.values.join("")).toBe(`v=DKIM1; k=rsa; p=${publicKey}`)
        expect(Math.max(...record!.values.map(({ length }) => length))).toBeLessThanOrEqual(255)
        expect(formatDnsRecord(record!)).toMatch(/^s1\._domainkey\.acme\.test\. IN TXT ("[^"]{1,255}" ?)+$/)
      }),
    )
  })
})

it.each([
  ["acme.test", "acme.test", true],
  ["acme.test", "news.acme.test", true],
  ["b.acme.test", "acme.test", true],
  ["test", "acme.test", false],
  ["otheracme.test", "acme.test", false],
  ["b.acme.test", "news.acme.test", false],
])("a domain is aligned %s with the From domain %s: %s", (domain, from, expected) => {
  expect(isAligned(domain, from)).toBe(expected)
})
