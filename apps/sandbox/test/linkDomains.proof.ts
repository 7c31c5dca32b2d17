import { readFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { mailServer } from "@outreach/testing/mailServer"
import { dnsServer } from "@outreach/testing/startNameServer"
import { startProgram } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { until } from "@outreach/testing/until"
import PostalMime from "postal-mime"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact, REPOSITORY } from "./artifact.ts"
import { createCampaign, createPartner } from "./createPartner.ts"

const HOST = "api.outreach.test"
const DOMAIN = "click.acme.test"
const PORT = 8443
const PORTS = `https_port ${PORT}\nhttp_port 8080`

/** Starts Caddy on a loopback address with this repository's Caddyfile and its own CA. Returns the CA certificate. */
const startCaddy = async (
  unpacked: string,
  options: { readonly address: string; readonly folder: string; readonly settings: Readonly<Record<string, string>> },
) => {
  const { address, folder, settings } = options
  const globalOptions = `local_certs\nskip_install_trust\nadmin off\ndefault_bind ${address}\n${PORTS}`
  const env = { ...settings, XDG_DATA_HOME: folder, HOME: folder, CADDY_GLOBAL_OPTIONS: globalOptions }
  const args = ["run", "--config", join(REPOSITORY, "deploy/Caddyfile"), "--adapter", "caddyfile"]
  const caddy = startProgram(join(unpacked, "usr/bin/caddy"), args, { env })
  await until(caddy, ({ errors }) => errors.includes("serving initial configuration"))
  return join(folder, "caddy/pki/authorities/local/root.crt")
}

it("behind the Caddyfile of deploy/, a link domain gets its certificate while it is verified, and e-mails contain its links", async ({
  skip,
}) => {
  const caddy = findProgram("caddy")
  if ("missing" in caddy) return skip(caddy.missing)
  const folder = temporaryFolder("links")
  await buildArtifact(folder)
  const database = await startPostgres()
  onTestFinished(database.stop)
  const mail = await mailServer()
  const settings: Record<string, string> = {
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL: `https://${HOST}:${PORT}`,
    TRUST_PROXY: "loopback",
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@deployment.test",
  }
  const { ops, opsJson, start } = artifactIn(folder, () => settings)
  await ops("migrate")
  const api = await start("api")
  const address = loopbackAddress()
  const upstreams = { API: new URL(api.url).host, API_ADMIN: new URL(api.adminUrl).host, API_HOST: HOST }
  const root = await startCaddy(caddy.folder, { address, folder, settings: upstreams })
  settings["NODE_EXTRA_CA_CERTS"] = root

  /** Sends a request like a browser. Fails without a certificate for the name. */
  const browse = (name: string, path: string, method = "GET") =>
    new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
      const url = { host: address, port: PORT, servername: name, path, method, headers: { Host: `${name}:${PORT}` } }
      const sent = request({ ...url, ca: readFileSync(root), agent: false }, (response) => {
        response.resume()
        resolve({ status: response.statusCode!, location: response.headers.location })
      })
      sent.on("error", reject).end()
    })
  const refusal = { code: "EPROTO" }

  const partner = await createPartner(opsJson)
  const flags = ["--from", "Acme <outreach@acme.test>", "--link-domain", DOMAIN]
  const sender = await opsJson("senders", "create", ...partner.ofAcme, ...flags)
  await expect(browse(DOMAIN, "/")).rejects.toMatchObject(refusal)

  const dns = await dnsServer([
    ...sender.dns_records.flatMap(({ name, type, values }: { name: string; type: string; values: string[] }) =>
      type === "TXT" ? [{ type, name, data: values }] : [],
    ),
    { type: "CNAME", name: DOMAIN, data: HOST },
    { type: "A", name: DOMAIN, data: address },
  ])
  const { checks } = await opsJson("senders", "verify", sender.id, "--dns-server", dns)
  expect(checks.map(({ status }: { status: string }) => status)).not.toContain("failed")
  await expect(browse("click.stranger.test", "/")).rejects.toMatchObject(refusal)

  await start("worker")
  const id = await createCampaign(opsJson, { programId: partner.programId, folder, recipients: 1 })
  await ops("campaigns", "schedule", id)
  const { text } = await until(mail, ({ messages }) => messages[0])
  const { html = "", headers } = await PostalMime.parse(text)
  const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => new URL(link!))
  const unsubscribe = headers.find(({ key }) => key === "list-unsubscribe")!.value
  expect(new Set(links.map(({ origin }) => origin))).toEqual(new Set([`https://${DOMAIN}:${PORT}`]))
  expect(unsubscribe).toContain(`<https://${DOMAIN}:${PORT}/unsubscribe/`)

  const click = links.find(({ pathname }) => pathname.startsWith("/l/"))!.pathname
  const followed = { status: 302, location: expect.stringMatching(/^https:\/\/partner\.test\/\?t=/) }
  // Also at the deployment's own address.
  for (const name of [DOMAIN, HOST]) expect(await browse(name, click)).toEqual(followed)
  expect(await browse(HOST, "/v1/health")).toMatchObject({ status: 200 })
  for (const path of ["/v1/health", "/docs", "/readyz", "/"])
    expect(await browse(DOMAIN, path)).toMatchObject({ status: 404 })
  const path = links.find(({ pathname }) => pathname.startsWith("/unsubscribe/"))!.pathname
  expect(await browse(DOMAIN, path, "POST")).toMatchObject({ status: 200 })
  const { rows } = await withClient(database.url, (client) => client.query("select from unsubscriptions"))
  expect(rows).toHaveLength(1)

  // Links of sent e-mails keep working after the domain's sender was removed.
  await ops("senders", "remove", sender.id, "--yes")
  expect(await browse(DOMAIN, click)).toEqual(followed)
})
