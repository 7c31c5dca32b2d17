import { describe, it } from "@effect/vitest"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { eventually } from "@outreach/testing/until"
import { journey } from "../journey.ts"
import { certificate, LATE_REFUSALS, proveOutcomes, REFUSALS, waiting } from "./relayOutcomes.ts"
import { PORTS, startPostfix } from "./startPostfix.ts"

const mail = journey()
const postfix = findProgram("postfix")

const table = (entries: Readonly<Record<string, string>>) =>
  `inline:{${Object.entries(entries)
    .map(([domain, value]) => `{${domain}.test=${value}}`)
    .join(", ")}}`

describe.skipIf("missing" in postfix)(
  "the outcomes of messages that postfix takes over TLS, refuses and returns",
  () => {
    it("are those that it reports, at once or later", async () => {
      if ("missing" in postfix) return
      const host = loopbackAddress()
      const server = await startPostfix(
        postfix.program,
        {
          mynetworks: "127.0.0.0/8",
          relay_domains: "late.test policy.test expires.test bounces.acme.test",
          virtual_mailbox_domains: ["accepts", "toolarge", ...Object.keys(REFUSALS)]
            .map((name) => `${name}.test`)
            .join(" "),
          smtpd_tls_security_level: "encrypt",
          smtpd_tls_cert_file: certificate.cert,
          smtpd_tls_key_file: certificate.key,
          smtpd_tls_loglevel: "1",
          smtpd_recipient_restrictions: `check_recipient_access ${table(REFUSALS)}, permit_mynetworks, reject`,
          // A header of the message determines the reply after the final dot.
          header_checks: "regexp:{{/^To:.*@toolarge/ REJECT 5.3.4 552 Message too big}}",
          transport_maps: table({
            ...Object.fromEntries(Object.keys(LATE_REFUSALS).map((name) => [name, `smtp:[${host}]:${PORTS.next}`])),
            "bounces.acme": `smtp:[${host}]:${PORTS.bounces}`,
          }),
          // Messages deferred for longer are returned. qmgr retries reports for the same time.
          maximal_queue_lifetime: "20s",
          next_restrictions: `check_recipient_access ${table(LATE_REFUSALS)}, permit_mynetworks, reject`,
          disable_dns_lookups: "yes",
          notify_classes: "",
          // A report that arrives before its message is recorded is deferred.
          queue_run_delay: "1s",
          // A queue run within a second of a delivery may find its message still locked, and qmgr postpones a locked message by minutes.
          minimal_backoff_time: "3s",
          maximal_backoff_time: "4s",
        },
        {
          host,
          services: `${host}:${PORTS.next} inet n - n - - smtpd
 -o myhostname=next.test
 -o smtpd_tls_security_level=none
 -o smtpd_recipient_restrictions=$next_restrictions
`,
        },
      )
      await proveOutcomes(mail, {
        smtpUrl: server.url,
        host,
        // It adds "Recipient address rejected" to every reply, which doesn't prove that the mailbox is missing.
        otherwise: { unclear: waiting("5.0.0") },
        readMailbox: () =>
          server
            .readMailbox()
            .map((message) => message.replace(/^(Return-Path|X-Original-To|Delivered-To): .*\n/gm, "")),
      })
      await eventually(server.readLog, (log) => /smtpd.*TLS connection established from/.test(log))
    })
  },
)
