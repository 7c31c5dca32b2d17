import { globSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { run } from "./exampleProject.ts"

const EXAMPLES = join(import.meta.dirname, "..")
const projects = globSync("*/package.json", { cwd: EXAMPLES }).map((path) => dirname(path))
let PATH = ""
beforeAll(async () => {
  const node20 = await run(EXAMPLES, ["npx", "-y", "-p", "node@20", "node", "-p", "process.execPath"])
  PATH = `${dirname(node20)}${delimiter}${process.env["PATH"]}`
})

it.each(projects)("npm ci of examples/%s on Node 20 names the required version", async (project) => {
  const installing = run(join(EXAMPLES, project), ["npm", "ci", "--dry-run"], { PATH })
  await expect(installing).rejects.toThrow(/EBADENGINE.*Required: {"node":">=22.*Actual: +{"node":"v20/s)
})
