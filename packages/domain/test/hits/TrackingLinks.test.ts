import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { linkBaseUrl, TRACKING_PATHS, type TrackingKind } from "../../src/hits/TrackingLinks.ts"
import { OrganizationId, RecipientId } from "../../src/Identifier.ts"
import { BASE, testLinks, to } from "../mail/testLinks.ts"

const links = testLinks()
const hex = fc.stringMatching(/^[0-9a-f]{32}$/)
const addressees = fc.record({
  organizationId: hex.map((id) => OrganizationId.make(`org_${id}`)),
  recipientId: hex.map((id) => RecipientId.make(`rcp_${id}`)),
})
const destinations = fc.webUrl({ withQueryParameters: true, withFragments: true }).filter((url) => url.length < 600)
const kinds = Object.keys(TRACKING_PATHS) as ReadonlyArray<TrackingKind>
const trackingPayload = (kind: TrackingKind, link: string) => {
  expect(link.startsWith(BASE + TRACKING_PATHS[kind])).toBe(true)
  return link.slice((BASE + TRACKING_PATHS[kind]).length)
}
const clickTo = (destination: string, whose = to) => trackingPayload("click", links.click(whose, destination)!)

describe("a tracked link", () => {
  it.each([
    ["https://api.outreach.test", "https://click.acme.test"],
    ["https://api.outreach.test/outreach", "https://click.acme.test"],
    ["https://api.outreach.test:8443", "https://click.acme.test:8443"],
    ["http://127.0.0.1:8080", "https://click.acme.test"],
    [null, "https://click.acme.test"],
  ])("of a link domain beside %s begins with %s", (publicBaseUrl, expected) => {
    expect(linkBaseUrl("click.acme.test", publicBaseUrl)).toBe(expected)
  })

  it("keeps its content under a link domain, and is read without the domain", () => {
    const below = links.at("click.acme.test").unsubscribe(to)
    expect(below).toBe(links.unsubscribe(to).replace(BASE, "https://click.acme.test"))
    expect(links.read("unsubscribe", below.slice("https://click.acme.test/unsubscribe/".length))).toMatchObject(to)
  })

  it("identifies its recipient and destination, for any spelling of the destination", () => {
    fc.assert(
      fc.property(addressees, destinations, (whose, destination) => {
        const expected = { ...whose, destination: new URL(destination).href }
        const payload = trackingPayload("click", links.click(whose, destination)!)
        expect(payload).toMatch(/^[\w-]+$/)
        expect(links.read("click", payload)).toEqual(expected)
        expect(links.read("open", trackingPayload("open", links.open(whose)))).toEqual({ ...whose, destination: null })
        expect(links.read("unsubscribe", trackingPayload("unsubscribe", links.unsubscribe(whose)))).toEqual({
          ...whose,
          destination: null,
        })
      }),
    )
  })

  it.each([
    ["", [{ key: "key" }]],
    [
      " though another key has the altered mark",
      [{ key: "key", mark: 7 }, { key: "older" }, { key: "oldest", mark: 6 }],
    ],
  ] as const)("leads nowhere once any character is another, is missing, or comes on top%s", (_, keys) => {
    const links = testLinks(...keys)
    const payload = trackingPayload("click", links.click(to, "https://clinic.test/a?b=c")!)
    const alphabet = [..."ABYZabyz0189-_=+/%é "]
    for (let i = 0; i < payload.length; i++) {
      for (const character of alphabet) {
        if (character === payload[i]) continue
        expect(links.read("click", payload.slice(0, i) + character + payload.slice(i + 1))).toBeUndefined()
      }
      expect(links.read("click", payload.slice(0, i) + payload.slice(i + 1))).toBeUndefined()
      expect(links.read("click", payload.slice(0, i))).toBeUndefined()
    }
    for (const more of ["=", "==", "A", "AA", "AAA", "AAAA", "\n"]) {
      expect(links.read("click", payload + more)).toBeUndefined()
      expect(links.read("click", more + payload)).toBeUndefined()
    }
  })

  it("is not a link of another kind", () => {
    const made = { click: clickTo("https://clinic.test/"), open: links.open(to), unsubscribe: links.unsubscribe(to) }
    for (const kind of kinds) {
      const payload = made[kind].split("/").at(-1)!
      for (const other of kinds) expect(links.read(other, payload) !== undefined).toBe(kind === other)
    }
  })

  it.each([
    ["a script", "javascript:alert(1)"],
    ["data", "data:text/html,hello"],
    ["an e-mail address", "mailto:someone@clinic.test"],
    ["a telephone number", "tel:+15550100"],
    ["another protocol", "ftp://clinic.test/"],
    ["no protocol", "//clinic.test/"],
    ["a path", "/path"],
    ["an anchor", "#anchor"],
    ["nothing", ""],
    ["no host", "https://"],
    ["more than 2,048 bytes", `https://clinic.test/${"a".repeat(2048)}`],
  ])("is not made for %s", (_, destination) => {
    expect(links.click(to, destination)).toBeUndefined()
  })
})
