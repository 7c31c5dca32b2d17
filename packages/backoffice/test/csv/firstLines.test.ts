import { npi } from "@outreach/testing/seedCampaign"
import fc from "fast-check"
import { expect, it } from "vitest"
import { createFirstLines, REPEATED } from "../../src/csv/firstLines.ts"

const line = fc.record({
  npi: fc.nat(20).map(npi),
  email: fc.tuple(fc.nat(20), fc.boolean()).map(([i, upper]) => (upper ? `DR${i}@CLINIC.TEST` : `dr${i}@clinic.test`)),
})

it("says of each line the same as a search through the lines before, also the second time", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (given) => {
      const compare = createFirstLines()
      const first: Array<{ number: number; npi: string; email: string }> = []
      const expected = given.map(({ npi, email }, i) => {
        const address = email.toLowerCase()
        const ofNpi = first.find((other) => other.npi === npi)
        const ofEmail = first.find((other) => other.email === address)
        if (ofNpi === undefined && ofEmail === undefined) {
          first.push({ number: i + 2, npi, email: address })
          return undefined
        }
        if (ofNpi === ofEmail) return REPEATED
        const [number, what] =
          ofNpi === undefined
            ? [ofEmail!.number, "e-mail address with another NPI"]
            : [ofNpi.number, "NPI with another e-mail address"]
        return `line ${number} has this ${what}: keep the line that is right`
      })
      const read = () => given.map((each, i) => compare({ ...each, number: i + 2 }))
      expect(read()).toEqual(expected)
      expect(read()).toEqual(expected)
    }),
  )
})

it("distinguishes 20,000 lines, and treats the forms of one address as the same", () => {
  const compare = createFirstLines()
  const each = (i: number) => ({ number: i + 2, npi: npi(i), email: `dr${i}@clinic.test` })
  for (let i = 0; i < 20_000; i++) if (compare(each(i)) !== undefined) throw new Error(`line ${i + 2} is new`)
  for (let i = 0; i < 20_000; i++)
    if (compare({ ...each(i), number: 1e6 + i }) !== REPEATED) throw new Error(`line ${i + 2} is repeated`)
  expect(compare({ number: 7e6, npi: npi(1e6), email: "José@büro.test" })).toBeUndefined()
  expect(compare({ number: 7e6 + 1, npi: npi(1e6), email: "jose\u0301@xn--bro-hoa.test" })).toBe(REPEATED)
})
