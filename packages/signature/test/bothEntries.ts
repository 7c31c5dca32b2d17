import * as web from "../src/index.ts"
import * as node from "../src/node.ts"

/** The two entries under one asynchronous shape, so that every test runs over both. */
export const bothEntries: ReadonlyArray<{
  entry: string
  readTolerance: typeof web.readTolerance
  sign: typeof web.sign
  verify: typeof web.verify
}> = [
  { entry: "@outreach/signature", readTolerance: web.readTolerance, sign: web.sign, verify: web.verify },
  {
    entry: "@outreach/signature/node",
    readTolerance: node.readTolerance,
    sign: async (...given) => node.sign(...given),
    verify: async (...given) => node.verify(...given),
  },
]
