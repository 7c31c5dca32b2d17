import { cpSync, globSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { run, workspaceWith } from "./exampleProject.ts"

const EXAMPLES = join(import.meta.dirname, "..")
const projects = globSync("*/package.json", { cwd: EXAMPLES }).map((path) => dirname(path))
const workspace = workspaceWith("retry-policy")
let PATH = ""
beforeAll(async () => {
  if (workspace.missing !== undefined) return
  const node20 = await run(workspace.path, ["npx", "-y", "-p", "node@20", "node", "-p", "process.execPath"])
  PATH = `${dirname(node20)}${delimiter}${process.env["PATH"]}`
})

it.each(projects)("npm ci of examples/%s on Node 20 names the required version", async (project) => {
  const installing = run(join(EXAMPLES, project), ["npm", "ci", "--dry-run"], { PATH })
  await expect(installing).rejects.toThrow(/EBADENGINE.*Required: {"node":">=22.*Actual: +{"node":"v20/s)
})

it("a project runs in the shell that the README names for Node 20", async () => {
  const project = join(workspace.path, "examples/queue")
  cpSync(join(EXAMPLES, "queue"), project, { recursive: true, filter: (path) => !path.endsWith("node_modules") })
  const program = `import { createQueue } from "./src/queue.ts"; console.log(typeof createQueue, process.versions.node)`
  const commands = `npm ci >&2 && node --input-type=module -e '${program}'`
  const printed = await run(project, ["npx", "-y", "-p", "node@24", "bash", "-c", commands], { PATH })
  expect(printed).toMatch(/^function 24\./)
})
