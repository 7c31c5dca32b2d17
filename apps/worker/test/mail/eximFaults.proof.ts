import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { connect as secure } from "node:tls"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { AS_LOCALHOST, certificate, readMbox } from "./relayOutcomes.ts"
import { startExim } from "./startExim.ts"
import { PORTS } from "./startPostfix.ts"

const { url, launch, query } = journey()
const exim = findUnpacked("exim")

const data = (name: string): string => join(import.meta.dirname, "../data", name)

/** A relay that requires STARTTLS, shows a renewed certificate when available, and closes a connection after 20 messages. */
const configure = (folder: string) => {
  writeFileSync(
    join(folder, "first.pem"),
    readFileSync(certificate.cert, "utf8") + readFileSync(certificate.key, "utf8"),
    { mode: 0o644 },
  )
  return `
daemon_smtp_ports = ${PORTS.relay}
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

/** Sends EHLO and STARTTLS. Returns the issuer of the server's certificate. */
const issuerOf = (host: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(PORTS.relay, host).on("error", reject)
    let isGreeted = false
    const lines = createInterface(socket).on("line", (line) => {
      if (line.startsWith("250 ")) socket.write("STARTTLS\r\n")
      if (!line.startsWith("220 ")) return
      if (!isGreeted) {
        isGreeted = true
        socket.write("EHLO probe.test\r\n")
        return
      }
      lines.close()
      const session = secure({ socket, rejectUnauthorized: false }, () => {
        const { issuer } = session.getPeerCertificate()
        session.destroy()
        resolve(String(issuer.CN))
      }).on("error", reject)
    })
  })

describe.skipIf("missing" in exim)("a relay that is exim", () => {
  it("gets each message once over STARTTLS while its certificate is renewed, by another authority", async () => {
    if ("missing" in exim) return
    const { folder, host } = await startExim(exim.folder, configure)
    const recipients = 60
    const campaigns = [(await launch(await partner(), recipients)).campaign.id]
    const authorities = join(folder, "authorities.pem")
    writeFileSync(
      authorities,
      readFileSync(certificate.cert, "utf8") + readFileSync(data("renewedAuthority.pem"), "utf8"),
    )
    await startWorker(url(), {
      SMTP_URL: `smtp://${host}:${PORTS.relay}${AS_LOCALHOST}`,
      NODE_EXTRA_CA_CERTS: authorities,
    })
    const received = () => readFileSync(join(folder, "log/mainlog"), "utf8").match(/^.* <= .*$/gm) ?? []
    await eventually(received, ({ length }) => length >= 20)
    expect(await issuerOf(host)).toBe("localhost")
    copyFileSync(data("renewed.pem"), join(folder, "new.pem"))
    renameSync(join(folder, "new.pem"), join(folder, "renewed.pem"))
    expect(await issuerOf(host)).toBe("Test authority")
    campaigns.push((await launch(await partner(), recipients)).campaign.id)

    const sent = () =>
      query((sql) => sql`select from recipients where campaign_id = any(${campaigns}) and sent_at is not null`)
    await eventually(sent, ({ length }) => length === 2 * recipients)
    const taken = await eventually(
      () => readMbox(join(folder, "mail/taken")),
      ({ length }) => length >= 2 * recipients,
    )
    const idOf = (message: string) => /^Message-ID: *\s*(\S+)/m.exec(message)?.[1]
    expect(new Set(taken.map(idOf)).size).toBe(2 * recipients)
    expect(taken).toHaveLength(2 * recipients)
    // It logs esmtps for messages received over TLS.
    expect(received().filter((line) => line.includes(" P=esmtp "))).toEqual([])
  })
})
