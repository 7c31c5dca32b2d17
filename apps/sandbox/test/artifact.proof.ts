import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { RELEASE } from "@outreach/process/release"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { createWebhookVerifier } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"
import { Client } from "pg"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"

const REPOSITORY = resolve(import.meta.dirname, "../../..")
const KEY = Buffer.alloc(32, 7).toString("base64")
const run = promisify(execFile)

/** An empty directory outside the repository, into which the artifact alone is copied. */
let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  await run("pnpm", ["package"], { cwd: REPOSITORY })
  folder = await mkdtemp(join(tmpdir(), "outreach-artifact-"))
  await cp(join(REPOSITORY, "out"), join(folder, "out"), { recursive: true })
  database = await startPostgres()
})
afterAll(async () => {
  await database?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

const settings = (others: Readonly<Record<string, string>> = {}) => ({
  DATABASE_URL: database.url,
  SECRETS_KEY: KEY,
  CURSOR_KEY: KEY,
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  ...others,
})

/** Runs the artifact's command line, and returns what it prints. */
const ops = async (...args: ReadonlyArray<string>) =>
  (await run(process.execPath, ["out/ops.js", ...args], { cwd: folder, env: settings() })).stdout
const opsJson = async (...args: ReadonlyArray<string>) => JSON.parse(await ops(...args, "--json"))

/** Starts a process of the artifact, and waits for a line of its log. Returns the line's annotations. */
const start = async (name: "api" | "worker", message: string, others: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, ["--enable-source-maps", `out/${name}.js`], {
    cwd: folder,
    env: settings(others),
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk
    })
  }
  const lineOf = (wanted: string) =>
    output
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line))
      .find((line) => line.message === wanted)
  const waitFor = async (wanted: string) => {
    await eventually(
      () => lineOf(wanted) !== undefined || child.exitCode !== null,
      (over) => over,
    )
    const line = lineOf(wanted)
    if (line === undefined) throw new Error(`${name} ended:\n${output}`)
    return line.annotations
  }
  const stop = async () => {
    child.kill("SIGTERM")
    return (await ended)[0]
  }
  return { annotations: await waitFor(message), waitFor, stop }
}

const createOrganization = async () => {
  const { id } = await opsJson("organizations", "create", "--name", "Acme")
  const ofAcme = ["--organization", id]
  const { api_key } = await opsJson("keys", "issue", ...ofAcme, "--name", "x", "--scopes", "tokens:read")
  return { ofAcme, api_key }
}

it("is JavaScript with source maps in at most 60 MB, without sources, tests or packages", async () => {
  const out = join(folder, "out")
  const entries = await readdir(out, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const scripts = files.filter((file) => /^(?:[^/]+|chunks\/[^/]+)\.js$/.test(file.slice(out.length + 1)))
  expect(scripts.length).toBeGreaterThan(3)
  expect(files).toEqual(expect.arrayContaining(scripts.map((file) => `${file}.map`)))
  expect(files.filter((file) => /\.ts$|\.test\.|\.proof\.|node_modules/.test(file))).toEqual([])
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000_000)
})

it("migrates, serves, sends an e-mail and delivers its event, from a directory that holds nothing else", async () => {
  expect(await ops("--version")).toBe(`ops v${RELEASE}\n`)
  expect((await opsJson("migrate")).applied).toContain("migrations/0001_baseline.sql")

  const { ofAcme, api_key } = await createOrganization()
  const { signing_secret } = await opsJson("secrets", "rotate", ...ofAcme)
  const events: Array<unknown> = []
  const partner = createServer(
    webhookHandler(createWebhookVerifier({ secrets: [signing_secret] }), (event) => {
      events.push(event.event_type)
    }),
  )
  await opsJson("endpoints", "create", ...ofAcme, "--url", `http://127.0.0.1:${await listen(partner)}/`)

  const mail = await mailServer()
  const api = await start("api", "listening", { PORT: "0" })
  const worker = await start("worker", "worker started", {
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@acme.test",
    ADMIN_PORT: "0",
  })

  await writeFile(join(folder, "mail.html"), "<p>{{ token }}</p>")
  await writeFile(join(folder, "clinicians.csv"), "npi,email\n1234567893,dana.reyes@clinic.test\n")
  const program = await opsJson("programs", "create", ...ofAcme, "--slug", "x", "--name", "X")
  const campaign = await opsJson(
    ...["campaigns", "create", "--program", program.id, "--name", "x", "--subject", "x", "--html", "mail.html"],
    ...["--window-start", "2026-01-01T00:00:00Z", "--window-end", "2099-01-02T00:00:00Z"],
  )
  await opsJson("recipients", "import", "--campaign", campaign.id, "clinicians.csv")
  await opsJson("campaigns", "schedule", campaign.id)

  await eventually(
    () => events,
    (received) => received.includes("outreach.email_sent"),
  )
  expect(mail.messages.map(({ to }) => to)).toEqual([["dana.reyes@clinic.test"]])

  const { url } = api.annotations
  const get = (path: string) => fetch(url + path, { headers: { Authorization: `Bearer ${api_key}` } })
  expect(await (await get("/v1/health")).json()).toMatchObject({ version: RELEASE })
  expect(await (await get("/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z")).json()).toMatchObject({
    data: [{ npi: "1234567893" }],
  })
  for (const page of ["/readyz", "/docs", "/docs/errors", "/docs/webhooks", "/v1/openapi.json"]) {
    expect((await get(page)).status).toBe(200)
  }
  expect([await api.stop(), await worker.stop()]).toEqual([0, 0])
})

it("logs the source of a line where Node is told to read source maps", async () => {
  await ops("migrate")
  const { api_key } = await createOrganization()
  const api = await start("api", "listening", { PORT: "0" })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query("alter table recipients rename to hidden")
  const response = await fetch(`${api.annotations.url}/v1/partners/consumer/tokens/aB3xY9`, {
    headers: { Authorization: `Bearer ${api_key}` },
  })
  await client.query("alter table hidden rename to recipients")
  expect(response.status).toBe(500)
  const { errors } = await api.waitFor("unhandled error in request")
  expect(errors.join("\n")).toMatch(/packages\/postgres\/src\/\S+\.ts:\d+/)
})
