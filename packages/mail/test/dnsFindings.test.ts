import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { describe, expect, it } from "vitest"
import { dkimFinding, dmarcFinding, spfFinding } from "../src/dnsFindings.ts"

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const base64 = (key: KeyObject, type: "spki" | "pkcs1") => key.export({ type, format: "der" }).toString("base64")
const signing = (key: KeyObject) => ({
  publicKey: base64(key, "spki"),
  name: "DKIM_KEY",
  printedBy: "openssl pkey -pubout",
})
const judgeDkim = (...records: ReadonlyArray<string>) =>
  dkimFinding("s1._domainkey.acme.test", records, signing(publicKey))

describe("a DKIM record", () => {
  it.each(["spki", "pkcs1"] as const)("may hold the key as %s, in any order of tags", (form) => {
    expect(judgeDkim(` k = rsa ; p=${base64(publicKey, form)} ;v=DKIM1`)).toMatchObject({ status: "ok" })
  })

  it("may be listed with other TXT values", () => {
    expect(judgeDkim("hello", "v=spf1 -all", `p=${base64(publicKey, "spki")}`)).toMatchObject({ status: "ok" })
  })

  it.each([
    ["is revoked", "failed", "v=DKIM1; p=", /revoked/],
    ["is for another algorithm", "failed", `k=ed25519; p=${base64(publicKey, "spki")}`, /does not allow/],
    ["allows SHA-1 alone", "failed", `h=sha1; p=${base64(publicKey, "spki")}`, /does not allow/],
    ["is for another service", "failed", `s=other; p=${base64(publicKey, "spki")}`, /does not allow/],
    ["is a test", "warning", `t=y:s; p=${base64(publicKey, "spki")}`, /marked as a test/],
  ])("that %s is told", (_, status, record, found) => {
    expect(judgeDkim(record)).toMatchObject({ status, found: expect.stringMatching(found) })
  })

  it("must be the only one", () => {
    const record = `v=DKIM1; p=${base64(publicKey, "spki")}`
    expect(judgeDkim(record, record)).toMatchObject({ status: "failed" })
  })

  it("causes a warning if its key is short", () => {
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 })
    const record = `p=${base64(short.publicKey, "spki")}`
    expect(dkimFinding("s1._domainkey.acme.test", [record], signing(short.publicKey))).toMatchObject({
      status: "warning",
    })
  })
})

describe("an SPF record", () => {
  it.each([
    ["ok", "v=spf1 include:a.test include:b.test mx ~all", /includes a\.test, b\.test, and ends with ~all/],
    ["ok", "v=spf1 redirect=_spf.a.test", /redirects to _spf\.a\.test/],
    ["warning", "v=spf1 ip4:192.0.2.1", /has no all/],
    ["warning", "v=spf1 ?all", /ends with \?all/],
    ["warning", "v=spf1 all", /ends with \+all/],
  ])("is %s: %s", (status, record, found) => {
    expect(spfFinding("acme.test", ["other", record])).toMatchObject({ status, found: expect.stringMatching(found) })
  })

  it("must be the only one, with exactly v=spf1 as its version", () => {
    expect(spfFinding("acme.test", ["v=spf1 -all", "v=spf1 ~all"])).toMatchObject({ status: "failed" })
    expect(spfFinding("acme.test", ["v=spf10 -all"])).toMatchObject({ status: "failed" })
  })
})

describe("a DMARC record", () => {
  const judge = (record: string, dkimDomain: string, at = "_dmarc.acme.test") =>
    dmarcFinding("acme.test", { at, records: [record] }, dkimDomain).status

  it("counts a signature of the domain, its parent or its child, unless it is strict", () => {
    expect(judge("v=DMARC1; p=reject", "acme.test")).toBe("ok")
    expect(judge("v=DMARC1; p=reject", "mail.acme.test")).toBe("ok")
    expect(judge("v=DMARC1; p=reject", "otheracme.test")).toBe("warning")
    expect(judge("v=DMARC1; p=reject; adkim=s", "mail.acme.test")).toBe("warning")
  })

  it("needs a policy that receivers know", () => {
    expect(judge("v=DMARC1; rua=mailto:x@acme.test", "acme.test")).toBe("warning")
    expect(judge("v=DMARC1; p=drop", "acme.test")).toBe("warning")
  })
})
