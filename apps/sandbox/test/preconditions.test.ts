import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { lockDirectory } from "../src/preconditions.ts"

it("keeps a folder that it creates, but no existing folder, out of the user's repository", async () => {
  const existing = temporaryFolder("preconditions")
  const created = join(existing, "sandbox")
  for (const folder of [existing, created]) await Effect.runPromise(Effect.scoped(lockDirectory(folder)))
  expect(readFileSync(join(created, ".gitignore"), "utf8")).toBe("*\n")
  expect(existsSync(join(existing, ".gitignore"))).toBe(false)
})
