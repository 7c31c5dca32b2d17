import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { until } from "@outreach/testing/until"
import { describe, expect, it, onTestFinished } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { AS_LOCALHOST, certificate } from "./relayOutcomes.ts"
import { PORTS, startPostfix } from "./startPostfix.ts"

const { url, launch, query, endLeases } = journey()
const postfix = findInstalled("postfix")
// The second package contains the mechanisms; postfix recommends neither.
const saslpasswd = findInstalled("saslpasswd")

const PASSWORD = "pass word: 1/2@3"

/** Starts a postfix that requires TLS and a login with one mechanism of Cyrus SASL, with users in a file. */
const startRelay = async (postfixProgram: string, saslpasswdProgram: string, mechanism: string) => {
  const folder = mkdtempSync(join(tmpdir(), "sasl-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const users = join(folder, "users")
  execFileSync(saslpasswdProgram, ["-p", "-c", "-f", users, "-u", "relay.test", "outreach"], { input: PASSWORD })
  chmodSync(users, 0o644)
  const server = await startPostfix(
    postfixProgram,
    {
      smtpd_tls_security_level: "encrypt",
      smtpd_tls_cert_file: certificate.cert,
      smtpd_tls_key_file: certificate.key,
      smtpd_tls_auth_only: "yes",
      smtpd_sasl_auth_enable: "yes",
      smtpd_sasl_type: "cyrus",
      smtpd_sasl_local_domain: "relay.test",
      smtpd_relay_restrictions: "permit_sasl_authenticated, reject",
      smtpd_recipient_restrictions: "permit_sasl_authenticated, reject",
      notify_classes: "",
    },
    {
      saslSettings: `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: ${users}\nmech_list: ${mechanism}\n`,
    },
  )
  const urlWith = (password: string) =>
    `smtp://outreach:${encodeURIComponent(password)}@${server.host}:${PORTS.relay}${AS_LOCALHOST}`
  return { ...server, urlWith }
}

describe.skipIf("missing" in postfix || "missing" in saslpasswd)(
  "a postfix that wants a password over STARTTLS",
  () => {
    it.each(["PLAIN", "LOGIN"])(
      "takes messages by AUTH %s, and none with a wrong password, which is named by its setting and stops nothing else",
      async (mechanism) => {
        if ("missing" in postfix || "missing" in saslpasswd) return
        const relay = await startRelay(postfix.program, saslpasswd.program, mechanism)
        const settings = (password: string) => ({
          SMTP_URL: relay.urlWith(password),
          NODE_EXTRA_CA_CERTS: certificate.cert,
        })
        const to = await partner()
        const { campaign } = await launch(to, 2)
        const wrong = await startWorker(url(), settings("wrong secret"))
        const attempts = () =>
          query(
            (sql) => sql`
            select attempts, failure_class as class, failure_code as code, quarantined_at as "quarantinedAt"
            from messages where campaign_id = ${campaign.id} and failure_class is not null`,
          )
        const rejected = { attempts: 0, class: "login", code: `535 5.7.8 to AUTH ${mechanism}`, quarantinedAt: null }
        expect(await eventually(attempts, ({ length }) => length === 2)).toEqual([rejected, rejected])
        const { annotations } = await until(wrong, "SMTP server rejects all messages")
        expect(annotations).toMatchObject({
          class: "login",
          code: rejected.code,
          advice: expect.stringContaining("SMTP_URL"),
        })
        for (const secret of ["wrong secret", encodeURIComponent("wrong secret"), btoa("wrong secret")]) {
          expect(wrong.text + wrong.errors).not.toContain(secret)
        }
        // Webhooks continue.
        await until(to, ({ received }) =>
          received.some(({ event }) => event.event_type === "outreach.recipients_published"),
        )
        expect(relay.readMailbox()).toEqual([])
        await wrong.kill("SIGTERM")

        await query((sql) => sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id}`)
        await endLeases()
        await startWorker(url(), settings(PASSWORD))
        await until(
          to,
          ({ received }) => received.filter(({ event }) => event.event_type === "outreach.email_sent").length === 2,
        )
        expect(await eventually(relay.readMailbox, ({ length }) => length >= 2)).toHaveLength(2)
        expect(relay.readLog()).toMatch(new RegExp(`sasl_method=${mechanism}, sasl_username=outreach@relay\\.test`))
      },
    )
  },
)
