import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Fault } from "./Fault.ts"
import { CERTIFICATES } from "./startServers.ts"

/** Systems of other people: the mail server, the name server, the partners. */
export const outsideFaults: ReadonlyArray<Fault> = [
  {
    name: "mail-server-stopped",
    fault: "The mail server is stopped",
    signals: [
      { log: "SMTP server rejects all messages", of: "worker" },
      { alert: "OutreachMailServerRejects" },
      { prints: "ECONNREFUSED", command: "ops doctor | grep mail" },
    ],
    remedy: ["systemctl start postfix"],
    break: async (stage) => void (await stage.shell("systemctl stop postfix")),
  },
  {
    name: "mail-certificate-expired",
    fault: "The certificate of the mail server has expired",
    signals: [
      { log: "SMTP server rejects all messages", of: "worker" },
      { prints: "CERT_HAS_EXPIRED", command: "ops doctor | grep mail" },
    ],
    remedy: ["cp renewed.pem /etc/postfix/server.pem", "systemctl restart postfix"],
    break: async (stage) => {
      await writeFile(join(stage.folder, "renewed.pem"), CERTIFICATES.valid)
      await writeFile(stage.mail.certificate, CERTIFICATES.expired)
      await stage.mail.restart()
    },
  },
  {
    name: "mail-password-changed",
    fault: "The mail server's password was changed",
    signals: [
      { log: "SMTP server rejects all messages", of: "worker" },
      { prints: "535 to AUTH", command: "ops doctor | grep mail" },
    ],
    remedy: [
      "sed -i '/^SMTP_URL=/s/:mail@/:rotated@/' /etc/outreach/outreach.env",
      "systemctl restart outreach@worker",
    ],
    break: async (stage) => {
      stage.mail.take("rotated")
      await stage.mail.restart()
    },
  },
  {
    name: "partner-certificate-expired",
    fault: "The certificate of a partner has expired",
    signals: [{ prints: "tls (CERT_HAS_EXPIRED)" }, { prints: "failing", command: "ops status | grep endpoints" }],
    outside: "The partner renews it",
    remedy: [],
    break: async ({ proxy }) => {
      proxy.present("expired")
      return async () => proxy.present("valid")
    },
  },
  {
    name: "partner-rejects",
    fault: "A partner rejects webhooks with 401 after changing its secret",
    signals: [
      { alert: "OutreachDeadLetters" },
      { log: "deliveries dead-lettered", of: "worker" },
      { prints: "401", command: "ops issues list" },
    ],
    outside: "The partner restores the secret",
    remedy: ["ops dead-letters replay --reason rejected"],
    break: async ({ proxy }) => {
      proxy.answerWith(401)
      return async () => proxy.answerWith("ok")
    },
  },
  {
    name: "name-server-silent",
    fault: "The name server doesn't respond",
    signals: [
      { metric: 'outreach_delivery_attempts_total{outcome="unresolved_name"}', of: "worker" },
      { prints: "unresolved_name" },
    ],
    remedy: ["systemctl restart named"],
    break: async (stage) => {
      for (const id of stage.endpointIds) await stage.opsJson("endpoints", "update", id, "--url", stage.proxy.namedUrl)
      await stage.healthy()
      stage.names.stop()
    },
  },
]
