import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

const FILE = "../src/contractEvents.ts"

it("holds the contract's types of events, word for word", async () => {
  const contract = import.meta.resolve("@outreach/contract")
  const interfaces = ["campaigns", "tokens", "events"].flatMap((subject) => {
    const source = readFileSync(new URL(`${subject}.ts`, contract), "utf8")
    return source.match(/^(?:\/\*\*[^\n]*\*\/\n)?(?:export )?interface .*?^\}$/gms) ?? []
  })
  const head =
    "// Written by `pnpm --filter @outreach/webhook-verifier events` from the contract, which this package does not install.\n"
  await expect([head, ...interfaces.map((text) => `${text}\n`)].join("\n")).toMatchFileSnapshot(FILE)
})
