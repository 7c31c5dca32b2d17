import { connect, createServer, type Socket } from "node:net"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { partner } from "@outreach/testing/partner"
import { until } from "@outreach/testing/until"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { certificate } from "./relayOutcomes.ts"
import { PORTS, startPostfix } from "./startPostfix.ts"
import { verifySignatures } from "./verifySignatures.ts"

const { url, launch, query } = journey()
const postfix = findInstalled("postfix")

/** Starts a proxy that can hide STARTTLS from clients. */
const startStripper = async (host: string) => {
  const sockets = new Set<Socket>()
  let isStripping = false
  const own = await listen(
    createServer((client) => {
      const server = connect(PORTS.relay, host)
      for (const socket of [client, server]) {
        sockets.add(socket)
        socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      }
      client.pipe(server)
      server.on("data", (bytes) =>
        client.write(isStripping ? bytes.toString("latin1").replace("STARTTLS", "XXXXXXXA") : bytes),
      )
      server.on("end", () => client.end())
    }),
  )
  return {
    url: `smtp://127.0.0.1:${own}`,
    strip: () => {
      isStripping = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

describe.skipIf("missing" in postfix)("a worker that requires TLS", () => {
  it("sends through a postfix that offers it, under the configured name, and stops once the offer is stripped", async () => {
    if ("missing" in postfix) return
    const tls = { smtpd_tls_cert_file: certificate.cert, smtpd_tls_key_file: certificate.key }
    const server = await startPostfix(postfix.program, {
      ...{ ...tls, smtpd_tls_security_level: "may", smtpd_tls_received_header: "yes", notify_classes: "" },
      smtpd_relay_restrictions: "permit_mynetworks, reject",
      mynetworks: "127.0.0.0/8",
    })
    const relay = await startStripper(server.host)
    const { publicKey, privateKey } = await Effect.runPromise(generateDkimKeyPair)
    const worker = await startWorker(url(), {
      SMTP_URL: `${relay.url}?name=mail.acme.test&requireTLS=true`,
      MAIL_FROM: "Acme <outreach@acme.test>",
      DKIM_KEY: Redacted.value(privateKey),
      NODE_EXTRA_CA_CERTS: certificate.cert,
    })
    const to = await partner()
    await launch(to, 1)
    const [message] = await eventually(server.readMailbox, ({ length }) => length === 1)
    expect(message).toMatch(/^Received: from mail\.acme\.test \(.*\n\s+\(using TLSv1\.[23] /m)
    const records = { "outreach._domainkey.acme.test": `v=DKIM1; k=rsa; p=${publicKey}` }
    expect((await verifySignatures(message!, records)).map(({ status }) => status.result)).toEqual(["pass"])
    // Postfix's own header fields come first.
    const [head] = message!.slice(message!.indexOf("DKIM-Signature:")).split("\n\n")
    expect(head!.split("\n").filter((line) => line.length > 78 && !/^\s\S+$/.test(line))).toEqual([])

    relay.strip()
    const { campaign } = await launch(to, 2)
    const failures = () =>
      query(
        (sql) => sql`
          select attempts, failure_class as class, failure_code as code, quarantined_at as "quarantinedAt" from messages
          where campaign_id = ${campaign.id} and failure_class is not null`,
      )
    const failure = { attempts: 0, class: "tls", code: "no STARTTLS", quarantinedAt: null }
    expect(await eventually(failures, ({ length }) => length > 0)).toContainEqual(failure)
    const { annotations } = await until(worker, "SMTP server rejects all messages")
    expect(annotations).toMatchObject({ class: "tls", advice: expect.stringContaining("TLS") })
    expect(server.readMailbox()).toHaveLength(1)
  })
})
