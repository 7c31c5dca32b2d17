import { chmodSync, copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/until"
import { journey } from "../journey.ts"
import { certificate, LATE_REFUSALS, proveOutcomes, REFUSALS } from "./relayOutcomes.ts"
import { startExim } from "./startExim.ts"
import { PORTS, readMaildir } from "./startPostfix.ts"

const mail = journey()
const exim = findProgram("exim")

const refusing = (refusals: Readonly<Record<string, string>>, condition: string) =>
  Object.entries(refusals)
    .map(
      ([domain, reply]) => `
  ${reply.startsWith("4") ? "defer" : "deny"} domains = ${domain}.test
    ${condition}
    message = ${reply}`,
    )
    .join("")

/** A relay that requires TLS and a password, has a reply for each recipient domain, and forwards to itself the messages that a second server rejects. */
const configure = (folder: string, host: string) => {
  for (const [name, file] of [
    ["cert.pem", certificate.cert],
    ["key.pem", certificate.key],
  ] as const) {
    copyFileSync(file, join(folder, name))
    chmodSync(join(folder, name), 0o644)
  }
  return `
daemon_smtp_ports = ${PORTS.relay} : ${PORTS.next}
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = rcpt
acl_smtp_data = data
log_selector = +tls_cipher
begin acl
rcpt:
  deny condition = \${if eq{$received_port}{${PORTS.relay}}}
    !authenticated = *
    message = 530 5.7.0 Authentication required
${refusing(REFUSALS, "")}
${refusing(LATE_REFUSALS, `condition = \${if eq{$received_port}{${PORTS.next}}}`)}
  accept
data:
  deny condition = \${if match{$recipients}{@toolarge}}
    message = 552 5.3.4 Message too big
  accept
begin routers
onward:
  driver = manualroute
  domains = late.test : policy.test : expires.test
  transport = smtp
  route_list = * ${host}::${PORTS.next}
  self = send
  no_more
back:
  driver = manualroute
  domains = bounces.acme.test
  transport = smtp
  route_list = * ${host}::${PORTS.bounces}
  self = send
  no_more
here:
  driver = accept
  transport = file
begin transports
smtp:
  driver = smtp
  allow_localhost
  hosts_try_dane =
  hosts_try_fastopen =
  tls_verify_certificates = ${folder}/cert.pem
  tls_verify_hosts = *
  tls_verify_cert_hostnames = :
file:
  driver = appendfile
  directory = ${folder}/mail/taken
  maildir_format
begin retry
expires.test * F,1s,1s
* * F,1h,1s
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{outreach}}{eq{$auth3}{pass word}}}}
  server_set_id = $auth2
`
}

describe.skipIf("missing" in exim)(
  "the outcomes of messages that exim takes over TLS and with a password, refuses and returns",
  () => {
    it("are those that it reports, at once or later", async () => {
      if ("missing" in exim) return
      const { folder, host } = await startExim(exim.folder, configure)
      await proveOutcomes(mail, {
        smtpUrl: `smtp://outreach:pass%20word@${host}:${PORTS.relay}`,
        host,
        readMailbox: () => readMaildir(`${folder}/mail/taken`),
      })
      // It writes its log a moment after delivery.
      const lines = [
        /<= .*A=plain:outreach/,
        /=> bounce-\S+@bounces\.acme\.test /,
        /=> complaints@bounces\.acme\.test /,
      ]
      const log = () => readFileSync(`${folder}/log/mainlog`, "utf8")
      await eventually(log, (text) => lines.every((line) => line.test(text)))
    })
  },
)
