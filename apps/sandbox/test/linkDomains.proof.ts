import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { dnsServer } from "@outreach/testing/dnsServer"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact, REPOSITORY } from "./artifact.ts"
import { createCampaign, createPartner } from "./createPartner.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const HOST = "api.outreach.test"
const DOMAIN = "click.acme.test"

const caddy = findUnpacked("caddy")

let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  if ("missing" in caddy) return
  folder = await mkdtemp(join(tmpdir(), "outreach-links-"))
  await buildArtifact(folder)
  database = await startPostgres()
})
afterAll(async () => {
  await database?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

/** Starts Caddy with the Caddyfile of this repository and an authority of its own. Returns the authority's certificate. */
const startCaddy = async (program: string, settings: Readonly<Record<string, string>>, port: number) => {
  const options = [
    "local_certs",
    "skip_install_trust",
    "admin off",
    `https_port ${port}`,
    `http_port ${await reservePort()}`,
    // HTTP/3 would listen on the UDP port that keeps this one reserved.
    "servers {\n  protocols h1 h2\n}",
  ]
  const env = { ...settings, XDG_DATA_HOME: folder, HOME: folder, CADDY_GLOBAL_OPTIONS: options.join("\n") }
  const child = spawn(program, ["run", "--config", join(REPOSITORY, "deploy/Caddyfile"), "--adapter", "caddyfile"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  })
  let log = ""
  child.stderr.on("data", (text) => {
    log += text
  })
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const root = join(folder, "caddy/pki/authorities/local/root.crt")
  await eventually(
    () => (log.includes("serving initial configuration") && existsSync(root)) || child.exitCode !== null,
    (over) => over,
  )
  if (child.exitCode !== null) throw new Error(log)
  return root
}

it.skipIf("missing" in caddy)(
  "behind the Caddyfile of deploy/, a link domain gets its certificate while it is verified, and e-mails hold its links",
  async () => {
    if ("missing" in caddy) return
    const mail = await mailServer()
    const port = await reservePort()
    const settings: Record<string, string> = {
      DATABASE_URL: database.url,
      SECRETS_KEY: KEY,
      CURSOR_KEY: KEY,
      PUBLIC_BASE_URL: `https://${HOST}:${port}`,
      TRUST_PROXY: "loopback",
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
      SHUTDOWN_DELAY_SECONDS: "0",
      PORT: "0",
      SMTP_URL: mail.url,
      MAIL_FROM: "outreach@deployment.test",
    }
    const { ops, opsJson, start } = artifactIn(folder, () => settings)
    await ops("migrate")
    const api = await start("api", "listening")
    const { port: adminPort } = await api.waitFor("admin port open")
    const root = await startCaddy(
      join(caddy.folder, "usr/bin/caddy"),
      { API: new URL(api.annotations.url).host, API_ADMIN: `127.0.0.1:${adminPort}`, API_HOST: HOST },
      port,
    )
    settings["NODE_EXTRA_CA_CERTS"] = root

    /** Asks as a browser does; fails without a certificate for the name. */
    const ask = (name: string, path: string, method = "GET") =>
      new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
        const url = { host: "127.0.0.1", port, servername: name, path, method, headers: { Host: `${name}:${port}` } }
        const asked = request({ ...url, ca: readFileSync(root), agent: false }, (response) => {
          response.resume()
          resolve({ status: response.statusCode!, location: response.headers.location })
        })
        asked.on("error", reject).end()
      })
    const refusal = { code: "EPROTO" }

    const { ofAcme, programId } = await createPartner(opsJson)
    const flags = ["--from", "Acme <outreach@acme.test>", "--link-domain", DOMAIN]
    const sender = await opsJson("senders", "create", ...ofAcme, ...flags)
    await expect(ask(DOMAIN, "/")).rejects.toMatchObject(refusal)

    const dns = await dnsServer([
      ...sender.dns_records.flatMap(({ name, type, values }: { name: string; type: string; values: string[] }) =>
        type === "TXT" ? [{ type, name, data: values }] : [],
      ),
      { type: "CNAME", name: DOMAIN, data: HOST },
      { type: "A", name: DOMAIN, data: "127.0.0.1" },
    ])
    const { checks } = await opsJson("senders", "verify", sender.id, "--dns-server", dns)
    expect(checks.map(({ status }: { status: string }) => status)).not.toContain("failed")
    await expect(ask("click.stranger.test", "/")).rejects.toMatchObject(refusal)

    await start("worker", "worker started")
    const id = await createCampaign(opsJson, { programId, folder, recipients: 1 })
    await ops("campaigns", "schedule", id)
    const [message] = await eventually(
      () => mail.messages,
      ({ length }) => length === 1,
      120_000,
    )
    const { html = "", headers } = await PostalMime.parse(message!.text)
    const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => new URL(link!))
    const unsubscribe = headers.find(({ key }) => key === "list-unsubscribe")!.value
    expect(new Set(links.map(({ origin }) => origin))).toEqual(new Set([`https://${DOMAIN}:${port}`]))
    expect(unsubscribe).toContain(`<https://${DOMAIN}:${port}/unsubscribe/`)

    const click = links.find(({ pathname }) => pathname.startsWith("/l/"))!.pathname
    const followed = { status: 302, location: expect.stringMatching(/^https:\/\/partner\.test\/\?t=/) }
    // On the deployment's own address as well.
    for (const name of [DOMAIN, HOST]) expect(await ask(name, click)).toEqual(followed)
    expect(await ask(HOST, "/v1/health")).toMatchObject({ status: 200 })
    for (const path of ["/v1/health", "/docs", "/readyz", "/"])
      expect(await ask(DOMAIN, path)).toMatchObject({ status: 404 })
    const path = links.find(({ pathname }) => pathname.startsWith("/unsubscribe/"))!.pathname
    expect(await ask(DOMAIN, path, "POST")).toMatchObject({ status: 200 })
    const rows = await withClient(
      database.url,
      async (client) => (await client.query("select from unsubscriptions")).rows,
    )
    expect(rows).toHaveLength(1)

    // What was sent outlives the sender that named the domain.
    await ops("senders", "remove", sender.id, "--yes")
    expect(await ask(DOMAIN, click)).toEqual(followed)
  },
)
