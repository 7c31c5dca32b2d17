import { readFileSync } from "node:fs"
import type { Email } from "postal-mime"
import { describe, expect, it } from "vitest"
import { parseReturned } from "../../src/returned/parseReturned.ts"
import { type Returned, readReturned } from "../../src/returned/readReturned.ts"
import { RETURNED_FORMS } from "../../src/returned/returnedForms.ts"
import samples from "./samples.json" with { type: "json" }

const textOf = (file: string) => readFileSync(new URL(`../bounces/${file}.eml`, import.meta.url), "utf8")
const read = async (text: string): Promise<Returned> => readReturned((await parseReturned(Buffer.from(text))) as Email)

/** Says of a reading what the index says: its kind, what it says, how sure it is, and the status. */
const say = (returned: Returned): string => {
  if (returned.kind === "complaint") return `complaint ${returned.feedbackType} ${returned.sureness}`
  if (returned.kind !== "bounce") return `${returned.kind} ${returned.sureness}`
  const { verdict, sureness, status } = returned
  const reason = verdict._tag === "Bounced" ? verdict.reason : verdict._tag.toLowerCase()
  return `bounce ${reason} ${sureness} ${status ?? "-"}`
}

describe("a message that came back is read as what it is", () => {
  it.each(samples.map(({ file, rule, expected }) => [file, expected, rule] as const))(
    "%s: %s",
    async (file, expected, rule) => {
      const returned = await read(textOf(file))
      expect({ rule: returned.rule, says: say(returned) }).toEqual({ rule, says: expected })
    },
  )

  it("and every form that is known has a sample, with its source", () => {
    expect(new Set(RETURNED_FORMS.map(({ name }) => name)).size).toBe(RETURNED_FORMS.length)
    expect(samples.map(({ rule }) => rule)).toEqual(expect.arrayContaining(RETURNED_FORMS.map(({ name }) => name)))
    for (const { source } of [...samples, ...RETURNED_FORMS]) expect(source).not.toBe("")
  })
})
