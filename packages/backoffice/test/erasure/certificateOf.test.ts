import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { OUTSIDE } from "../../src/erasure/certificateOf.ts"

it("lists the same data outside the database as docs/clinicians.md", () => {
  const page = readFileSync(new URL("../../../../docs/clinicians.md", import.meta.url), "utf8")
  const [, table = ""] = page.split("## Outside the database\n\n| place | data | do |\n| --- | --- | --- |\n")
  expect(table.trimEnd().split("\n")).toEqual(OUTSIDE.map((cells) => `| ${cells.join(" | ")} |`))
})
