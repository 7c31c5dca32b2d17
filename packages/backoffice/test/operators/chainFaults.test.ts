import { createHash } from "node:crypto"
import { type ChainLink, chainFaults, parseLine, toLine } from "@outreach/backoffice/operators/chainFaults"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

/** Creates a chain of links that record texts. */
const chainOf = (texts: ReadonlyArray<string>): ReadonlyArray<ChainLink> => {
  const links: Array<ChainLink> = []
  for (const [i, command] of texts.entries()) {
    const head = { number: i + 1, previous: links.at(-1)?.hash ?? null, kind: "begun", id: `aud_${i}` }
    const line = JSON.stringify({ ...head, command })
    links.push({ ...head, line, hash: createHash("sha256").update(line).digest("hex"), isRemoved: false })
  }
  return links
}
const faultsOf = (links: ReadonlyArray<ChainLink>) => links.flatMap((link, i) => chainFaults(links[i - 1], link))

const texts = fc.array(fc.string({ unit: "grapheme" }), { minLength: 3, maxLength: 8 })
const place = fc.nat()

describe("a chain", () => {
  it("has no faults unchanged, and is restored from its lines", () => {
    fc.assert(
      fc.property(texts, (texts) => {
        const links = chainOf(texts)
        expect(faultsOf(links)).toEqual([])
        expect(links.map(toLine).map(parseLine)).toEqual(links)
      }),
    )
  })

  it("reports a changed, missing, repeated or swapped link, except a missing newest one", () => {
    fc.assert(
      fc.property(texts, place, fc.constantFrom("line", "hash", "out", "again", "swap"), (texts, place, change) => {
        const links = chainOf(texts)
        const at = place % (links.length - 1)
        const link = links[at]!
        const next = links[at + 1]!
        const changed = {
          line: links.with(at, { ...link, line: `${link.line} ` }),
          hash: links.with(at, {
            ...link,
            line: `${link.line} `,
            hash: createHash("sha256").update(`${link.line} `).digest("hex"),
          }),
          out: links.toSpliced(at, 1),
          again: links.toSpliced(at, 0, link),
          swap: links.toSpliced(at, 2, { ...next, number: link.number }, { ...link, number: next.number }),
        }[change]
        expect(faultsOf(changed).length).toBeGreaterThan(0)
      }),
    )
  })

  it("reports a line with any changed character", () => {
    fc.assert(
      fc.property(texts, place, place, fc.string({ minLength: 1, maxLength: 1 }), (texts, which, at, by) => {
        const links = chainOf(texts)
        const line = toLine(links[which % links.length]!)
        const changed = line.slice(0, at % line.length) + by + line.slice((at % line.length) + 1)
        fc.pre(changed !== line)
        const link = parseLine(changed)
        const read = links.map((each, i) => (i === which % links.length ? link : each))
        expect(link === undefined || faultsOf(read as ReadonlyArray<ChainLink>).length > 0).toBe(true)
      }),
    )
  })
})
