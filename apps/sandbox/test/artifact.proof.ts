import { spawnSync } from "node:child_process"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { afterTests } from "@outreach/testing/afterTests"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { until } from "@outreach/testing/until"
import { beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { createPartner } from "./createPartner.ts"

const atEnd = afterTests()
/** A folder outside the repository that contains only the artifact. */
let folder: string
/** Size of each file of the artifact. */
const sizes = new Map<string, number>()
const folders: Array<string> = []
const listArtifact = () => readdir(join(folder, "out"), { recursive: true })
let database: Awaited<ReturnType<typeof startPostgres>>
let opsJson: ReturnType<typeof artifactIn>["opsJson"]
let start: ReturnType<typeof artifactIn>["start"]
beforeAll(async () => {
  folder = temporaryFolder("artifact", atEnd)
  await buildArtifact(folder)
  for (const file of await listArtifact()) {
    const found = await stat(join(folder, "out", file))
    if (found.isFile()) sizes.set(file, found.size)
    else folders.push(file)
  }
  database = await startPostgres()
  atEnd(database.stop)
  ;({ opsJson, start } = artifactIn(folder, () => ({ DATABASE_URL: database.url })))
  expect((await opsJson("migrate")).applied).toContain("migrations/0001_baseline.sql")
})

it("is JavaScript with source maps in at most 60 MB, without sources, tests or packages", () => {
  const files = [...sizes.keys()]
  const scripts = files.filter((file) => /^(?:main|chunks)\/[^/]+\.js$/.test(file))
  expect(scripts.length).toBeGreaterThan(3)
  expect(files).toEqual(expect.arrayContaining(scripts.map((file) => `${file}.map`)))
  expect(files.filter((file) => /\.ts$|\.test\.|\.proof\.|node_modules/.test(file))).toEqual([])
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000_000)
})

it("creates no other files in its folder", async () => {
  for (const name of ["api", "console"] as const) expect(await (await start(name)).kill("SIGTERM")).toBe(0)
  expect((await listArtifact()).toSorted()).toEqual([...sizes.keys(), ...folders].toSorted())
})

it("reports in one sentence that Node 18 is too old", ({ skip }) => {
  const command = ["-y", "-p", "node@18", "node", "-e", "process.stdout.write(process.execPath)"]
  const found = spawnSync("npx", command, { encoding: "utf8" })
  if (found.status !== 0) return skip("the npm registry is not reachable")
  for (const name of ["api", "worker", "console", "ops"]) {
    const args = ["--enable-source-maps", `out/${name}.js`]
    expect(spawnSync(found.stdout, args, { cwd: folder, encoding: "utf8" }), name).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^This needs Node 22\.19 or later, and runs on 18\.\d+\.\d+ \(.+\)\.\n$/),
    })
  }
})

it("serves the documents, and logs sources if Node reads source maps", async () => {
  const key = await (await createPartner(opsJson)).issueKey()
  const api = await start("api")
  const get = (path: string) => fetch(api.url + path, { headers: { Authorization: `Bearer ${key}` } })
  for (const page of ["/readyz", "/docs", "/docs/reference", "/docs/webhooks.md", "/llms.txt", "/v1/openapi.json"]) {
    expect((await get(page)).status).toBe(200)
  }
  const { version } = (await (await get("/v1/health")).json()) as { version: string }
  expect(await (await get("/docs/changelog.md")).text()).toContain(`runs version ${version}`)
  expect(await (await get("/docs/search?q=dead+letter")).text()).toContain('href="webhooks#failed"')
  await withClient(database.url, async (client) => {
    await client.query("alter table recipients rename to hidden")
    expect((await get("/v1/partners/consumer/tokens/aB3xY9")).status).toBe(500)
    await client.query("alter table hidden rename to recipients")
  })
  const { annotations } = await until(api, "unhandled error in request")
  expect(annotations["errors"].join("\n")).toMatch(/packages\/postgres\/src\/\S+\.ts:\d+/)
})

it("signs an operator in to the console, and serves its pages with their styles and scripts", async () => {
  const { sign_in_link: link } = await opsJson("operators", "create", "--name", "Dana Reyes", "--role", "admin")
  const operatorConsole = await start("console")
  const { url } = operatorConsole
  const open = (path: string, headers = {}) => fetch(url + path, { headers, redirect: "manual" })
  expect((await open("/")).headers.get("location")).toBe("/sign-in")

  const used = await fetch(url + new URL(link).pathname, {
    method: "POST",
    headers: { origin: url },
    body: new URLSearchParams(),
    redirect: "manual",
  })
  const cookie = used.headers.get("set-cookie")!.split(";")[0]!
  const today = await (await open("/", { cookie })).text()
  const sections = [...today.matchAll(/<li><a href="([^"]+)"/g)].map(([, path]) => path!)
  expect(sections.length).toBeGreaterThan(10)
  for (const path of sections) {
    const page = await open(path, { cookie })
    expect({ path, status: page.status }).toEqual({ path, status: 200 })
    expect(await page.text()).toContain("Dana Reyes")
  }
  const assets = [...today.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)]
  expect(assets.length).toBeGreaterThan(3)
  for (const [, path] of assets) expect((await open(path!)).status).toBe(200)
  expect(await operatorConsole.kill("SIGTERM")).toBe(0)
})
