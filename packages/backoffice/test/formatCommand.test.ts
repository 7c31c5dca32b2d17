import { execFileSync } from "node:child_process"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import fc from "fast-check"
import { expect, it } from "vitest"
import { formatCommand } from "../src/formatCommand.ts"

const word = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "")),
  fc.string({ unit: fc.constantFrom(..."'\"$`\\!#~*=&|;<> \n\t(){}[]aé…-") }),
)

it("formats arguments that a shell passes on unchanged", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), (words) => {
      const passedOn = execFileSync("sh", ["-c", formatCommand(["printf", "%s\\0", "", ...words])], {
        encoding: "utf8",
      })
      expect(passedOn.split("\0").slice(1, -1)).toEqual(words)
    }),
    // Each run starts a shell.
    { numRuns: propertyRuns(3) },
  )
})

it.each([
  [["ops", "events", "list", "--type", "outreach.email_sent"], "ops events list --type outreach.email_sent"],
  [["ops", "audit", "list", "--operator", "Dana O'Neil"], String.raw`ops audit list --operator 'Dana O'\''Neil'`],
])("only quotes if the shell requires it: %j", (words, text) => {
  expect(formatCommand(words)).toBe(text)
})
