import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { connect as secure } from "node:tls"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { reservePort } from "@outreach/testing/reservePort"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { certificate, readMbox } from "./relayOutcomes.ts"
import { startExim } from "./startExim.ts"

const { url, launch, query } = journey()
const exim = findUnpacked("exim")

const data = (name: string): string => join(import.meta.dirname, "../data", name)

const MAX_SIZE = 1024

/** A relay that takes mail over STARTTLS alone, shows a renewed certificate once there is one, and ends a connection after 20 messages. */
const configure = (relay: number, small: number) => (folder: string) => {
  writeFileSync(
    join(folder, "first.pem"),
    readFileSync(certificate.cert, "utf8") + readFileSync(certificate.key, "utf8"),
    { mode: 0o644 },
  )
  return `
daemon_smtp_ports = ${relay} : ${small}
message_size_limit = \${if eq{$received_port}{${small}}{${MAX_SIZE}}{50M}}
smtp_accept_max_per_connection = 20
smtp_accept_max = 0
smtp_accept_queue_per_connection = 0
tls_advertise_hosts = *
tls_certificate = \${if exists{${folder}/renewed.pem}{${folder}/renewed.pem}{${folder}/first.pem}}
acl_smtp_mail = mail
acl_smtp_rcpt = rcpt
log_selector = +tls_cipher
begin acl
mail:
  deny !encrypted = *
    message = 530 5.7.0 Must issue a STARTTLS command first
  accept
rcpt:
  accept
begin routers
here:
  driver = accept
  transport = file
begin transports
file:
  driver = appendfile
  file = ${folder}/mail/taken
`
}

/** Says EHLO and STARTTLS; returns the extensions, and the issuer of the certificate that is shown. */
const greet = (port: number) =>
  new Promise<{ readonly extensions: ReadonlyArray<string>; readonly issuer: string }>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1").on("error", reject)
    const extensions: Array<string> = []
    const lines = createInterface(socket).on("line", (line) => {
      if (line.startsWith("220 ") && extensions.length === 0) socket.write("EHLO probe.test\r\n")
      else if (line.startsWith("220 ")) {
        lines.close()
        const session = secure({ socket, rejectUnauthorized: false }, () => {
          const { issuer } = session.getPeerCertificate()
          session.destroy()
          resolve({ extensions, issuer: String(issuer.CN) })
        }).on("error", reject)
      } else {
        extensions.push(line.slice(4))
        if (line.startsWith("250 ")) socket.write("STARTTLS\r\n")
      }
    })
  })

describe.skipIf("missing" in exim)("a relay that is exim", () => {
  it("gets each message once over STARTTLS while its certificate is renewed, by another authority", async () => {
    if ("missing" in exim) return
    const [relay, small] = [await reservePort(), await reservePort()]
    const { folder } = await startExim(exim.folder, relay, configure(relay, small))
    const recipients = 200
    const { campaign } = await launch(await partner(), recipients)
    const authorities = join(folder, "authorities.pem")
    writeFileSync(
      authorities,
      readFileSync(certificate.cert, "utf8") + readFileSync(data("renewedAuthority.pem"), "utf8"),
    )
    await startWorker(url(), { SMTP_URL: `smtp://127.0.0.1:${relay}`, NODE_EXTRA_CA_CERTS: authorities })
    const received = () => readFileSync(join(folder, "log/mainlog"), "utf8").match(/^.* <= .*$/gm) ?? []
    await eventually(received, ({ length }) => length >= 40)
    expect((await greet(relay)).issuer).toBe("localhost")
    copyFileSync(data("renewed.pem"), join(folder, "new.pem"))
    renameSync(join(folder, "new.pem"), join(folder, "renewed.pem"))
    const before = received().length
    expect((await greet(relay)).issuer).toBe("Test authority")
    expect(before).toBeLessThan(recipients)

    const sent = () =>
      query((sql) => sql`select from recipients where campaign_id = ${campaign.id} and sent_at is not null`)
    await eventually(sent, ({ length }) => length === recipients, 120_000)
    const taken = await eventually(
      () => readMbox(join(folder, "mail/taken")),
      ({ length }) => length >= recipients,
    )
    expect(new Set(taken.map((message) => /^To: .*$/m.exec(message)?.[0])).size).toBe(recipients)
    expect(taken).toHaveLength(recipients)
    expect(received().filter((line) => !line.includes("X=TLS"))).toEqual([])
    console.log(`${before} of ${recipients} messages were taken before the certificate was renewed`)
  })

  it("refuses messages for their size, which is about us: they wait, none bounces, and no address is marked", async () => {
    if ("missing" in exim) return
    const [relay, small] = [await reservePort(), await reservePort()]
    const { folder } = await startExim(exim.folder, relay, configure(relay, small))
    expect((await greet(small)).extensions).toContain(`SIZE ${MAX_SIZE}`)
    const { campaign } = await launch(await partner(), 3)
    await startWorker(url(), { SMTP_URL: `smtp://127.0.0.1:${small}`, NODE_EXTRA_CA_CERTS: certificate.cert })
    const paused = () => query((sql) => sql`select status from domain_pauses where campaign_id = ${campaign.id}`)
    expect(await eventually(paused, ({ length }) => length > 0)).toEqual([{ status: "552" }])
    expect(readFileSync(join(folder, "log/mainlog"), "utf8")).toMatch(/message too big/)
    const outcomes = await query(
      (sql) => sql`
        select sent_at is null and bounced_at is null and withdrawn_at is null as waits, attempts
        from recipients recipient join messages message on message.recipient_id = recipient.id
        where recipient.campaign_id = ${campaign.id}`,
    )
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ waits: true, attempts: 0 })))
    expect(await query((sql) => sql`select from organization_suppressions`)).toEqual([])
  })
})
