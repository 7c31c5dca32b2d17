import { formatFrom } from "@outreach/domain/senders/Sender"
import { parseInput } from "@outreach/domain/textSchema"
import { Result } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { senderMailbox } from "../src/mailFrom.ts"

const read = (text: string) => Result.getOrUndefined(parseInput(senderMailbox)(text))

it("reads a sender as it was written, with any characters in its name", () => {
  const names = fc
    .string({ unit: fc.constantFrom(..."aé 1.,;:<>()[]\\\"'@&-") })
    .map((name) => read(`${JSON.stringify(name)} <a@acme.test>`)?.name ?? "")
  fc.assert(
    fc.property(names, (name) => {
      const written = formatFrom({ fromName: name, fromAddress: "outreach@acme.test" })
      expect(read(written)).toEqual({ name, address: "outreach@acme.test" })
    }),
  )
})
