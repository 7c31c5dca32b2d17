import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { email, npi } from "@outreach/testing/seedCampaign"
import { Client } from "pg"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { createCampaign, createPartner } from "./createPartner.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")

/** An empty directory outside the repository, which holds the artifact alone. */
let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
let ops: ReturnType<typeof artifactIn>["ops"]
let opsJson: ReturnType<typeof artifactIn>["opsJson"]
let start: ReturnType<typeof artifactIn>["start"]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-artifact-"))
  await buildArtifact(folder)
  database = await startPostgres()
  const settings = {
    DATABASE_URL: database.url,
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  }
  ;({ ops, opsJson, start } = artifactIn(folder, () => settings))
})
afterAll(async () => {
  await database?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

it("is JavaScript with source maps in at most 60 MB, without sources, tests or packages", async () => {
  const out = join(folder, "out")
  const entries = await readdir(out, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const scripts = files.filter((file) => /^(?:main|chunks)\/[^/]+\.js$/.test(file.slice(out.length + 1)))
  expect(scripts.length).toBeGreaterThan(3)
  expect(files).toEqual(expect.arrayContaining(scripts.map((file) => `${file}.map`)))
  expect(files.filter((file) => /\.ts$|\.test\.|\.proof\.|node_modules/.test(file))).toEqual([])
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000_000)
})

it.for(["api", "worker", "console", "ops"])("%s says in a sentence that Node 18 is too old", async (name, { skip }) => {
  const old = "process.stdout.write(process.execPath)"
  const found = spawnSync("npx", ["-y", "-p", "node@18", "node", "-e", old], { encoding: "utf8" })
  if (found.status !== 0) return skip("the npm registry is not reachable")
  const child = spawn(found.stdout, ["--enable-source-maps", `out/${name}.js`], { cwd: folder })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^This needs Node 22\.19 or later, and runs on 18\.\d+\.\d+ \(.+\)\.\n$/),
  })
})

it("migrates, serves, sends an e-mail and delivers its event, from a directory that holds nothing else", async () => {
  const { version: release } = JSON.parse(await readFile(join(folder, "out/package.json"), "utf8"))
  expect(release).toMatch(/^\d+\.\d+\.\d+(?:-dev)?\+[0-9a-f]{12}/)
  expect(await ops("--version")).toBe(`ops v${release}\n`)
  expect((await opsJson("migrate")).applied).toContain("migrations/0001_baseline.sql")

  const partner = await createPartner(opsJson)
  const key = await partner.issueKey()
  const mail = await mailServer()
  const api = await start("api", "listening", { PORT: "0" })
  const worker = await start("worker", "worker started", {
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@acme.test",
  })

  const campaignId = await createCampaign(opsJson, { programId: partner.programId, folder, recipients: 1 })
  await opsJson("campaigns", "schedule", campaignId)

  await eventually(
    () => [...partner.delivered.values()],
    (received) => received.includes("outreach.email_sent"),
  )
  expect(mail.messages.map(({ to }) => to)).toEqual([[email(0)]])

  const { url } = api.annotations
  const get = (path: string) => fetch(url + path, { headers: { Authorization: `Bearer ${key}` } })
  expect(await (await get("/v1/health")).json()).toMatchObject({ version: release })
  expect(await (await get("/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z")).json()).toMatchObject({
    data: [{ npi: npi(0) }],
  })
  for (const page of ["/readyz", "/docs", "/docs/reference", "/docs/webhooks", "/v1/openapi.json"]) {
    expect((await get(page)).status).toBe(200)
  }
  expect(await (await get("/docs/changelog")).text()).toContain("@outreach/client")
  expect([await api.stop(), await worker.stop()]).toEqual([0, 0])
})

it("signs an operator in to the console, whose pages bring their own styles and scripts", async () => {
  await ops("migrate")
  const { sign_in_link: link } = await opsJson("operators", "create", "--name", "Dana Reyes", "--role", "admin")
  const operatorConsole = await start("console", "listening", { PORT: "0" })
  const { url } = operatorConsole.annotations
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
  expect(await operatorConsole.stop()).toBe(0)
})

it("logs the source of a line where Node is told to read source maps", async () => {
  await ops("migrate")
  const key = await (await createPartner(opsJson)).issueKey()
  const api = await start("api", "listening", { PORT: "0" })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query("alter table recipients rename to hidden")
  const response = await fetch(`${api.annotations.url}/v1/partners/consumer/tokens/aB3xY9`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  await client.query("alter table hidden rename to recipients")
  expect(response.status).toBe(500)
  const { errors } = await api.waitFor("unhandled error in request")
  expect(errors.join("\n")).toMatch(/packages\/postgres\/src\/\S+\.ts:\d+/)
})
