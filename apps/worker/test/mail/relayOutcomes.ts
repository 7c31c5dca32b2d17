import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { partner } from "@outreach/testing/partner"
import { sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { Effect, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { expect } from "vitest"
import { complaintReport } from "../complaintReport.ts"
import type { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"
import { PORTS } from "./startPostfix.ts"
import { verifySignatures } from "./verifySignatures.ts"

const NOTHING = { sent: false, refused: null, reason: null, attempts: null, status: null, suppressed: null }
/** A recipient whose message bounced. Their address is suppressed, unless the reason is unknown. */
const bounced = (reason: string) => ({ ...NOTHING, reason, suppressed: reason === "other" ? null : "bounced" })

/** A recipient who waits because the rejection is about us: their domain is paused. */
export const waiting = (status: string) => ({ ...NOTHING, attempts: 0, status })

/** Expected outcome of the recipient of each domain. */
const OUTCOMES = {
  // Accepted; a complaint comes later.
  accepts: { ...NOTHING, sent: true, suppressed: "complained" },
  rejects: bounced("mailbox_not_found"),
  disabled: bounced("mailbox_disabled"),
  nodomain: bounced("domain_not_found"),
  malformed: bounced("address_invalid"),
  unclear: bounced("other"),
  greylists: { ...NOTHING, attempts: 1 },
  full: { ...NOTHING, attempts: 1 },
  blocks: waiting("5.7.1"),
  // Rejected after the final dot.
  toolarge: waiting("5.3.4"),
  // Accepted; a report comes later.
  late: { ...bounced("mailbox_disabled"), sent: true },
  policy: { ...NOTHING, sent: true, refused: "policy", status: "5.7.1" },
  expires: { ...NOTHING, sent: true, refused: "expired" },
}

/** A relay's rejections of RCPT TO, by domain. */
export const REFUSALS = {
  rejects: "550 5.1.1 No such user here",
  disabled: "550 5.2.1 This account is disabled",
  nodomain: "550 5.1.2 No such host",
  malformed: "553 5.1.3 Bad address syntax",
  unclear: "554 5.0.0 Transaction failed",
  greylists: "451 4.7.1 Greylisted, come again",
  full: "552 5.2.2 Mailbox full",
  blocks: "550 5.7.1 Blocked by policy",
} as const

/** Rejections by a second server to which the relay forwards mail. */
export const LATE_REFUSALS = {
  late: "550 5.2.1 This account is disabled",
  policy: "550 5.7.1 Your address is listed",
  expires: "451 4.3.2 Not now",
}

/** Certificate of the relay, trusted by the worker, for the name localhost. */
export const certificate = {
  cert: fileURLToPath(new URL("../data/certificate.pem", import.meta.url)),
  key: fileURLToPath(new URL("../data/key.pem", import.meta.url)),
}

/** Makes the worker verify the relay's certificate for localhost, although the relay has another loopback address. */
const AS_LOCALHOST = "?tls.servername=localhost"

/**
 * Sends a campaign through a relay that treats each domain differently, and compares the recorded outcomes. A mailbox provider then
 * complains about the accepted message through the same relay, with the seal in its header.
 */
export const proveOutcomes = async (
  { url, launch, run }: ReturnType<typeof journey>,
  relay: {
    readonly smtpUrl: string
    readonly host: string
    /** Reads the messages accepted for accepts.test. */
    readonly readMailbox: () => ReadonlyArray<string>
    /** Other outcomes, because the relay adds words to a reply. */
    readonly otherwise?: Partial<Record<keyof typeof OUTCOMES, object>>
  },
) => {
  const domains = Object.keys(OUTCOMES)
  const { campaign } = await launch(await partner(), domains.length)
  await run(sql`
    update recipients set email = 'x@' || (${domains}::text[])[place] || '.test'
    from (select id, row_number() over (order by id)::int as place from recipients where campaign_id = ${campaign.id}) numbered
    where recipients.id = numbered.id`)
  const { privateKey, publicKey } = await Effect.runPromise(generateDkimKeyPair)
  await startWorker(url(), {
    SMTP_URL: `${relay.smtpUrl}${AS_LOCALHOST}`,
    NODE_EXTRA_CA_CERTS: certificate.cert,
    BOUNCE_DOMAIN: "bounces.acme.test",
    BOUNCE_SMTP_HOST: relay.host,
    BOUNCE_SMTP_PORT: String(PORTS.bounces),
    DKIM_KEY: Redacted.value(privateKey),
  })

  const [message] = await eventually(relay.readMailbox, ({ length }) => length > 0, 90_000)
  const [signature] = await verifySignatures(message!.replace(/\r?\n/g, "\r\n"), {
    "outreach._domainkey.acme.test": `v=DKIM1; k=rsa; p=${publicKey}`,
  })
  expect(signature?.status.result).toBe("pass")
  const [, seal] = /^X-Outreach-Message:\s+(\S+)/m.exec(message!)!
  // The second server accepts mail from unknown senders.
  const stranger = createTransport({ host: relay.host, port: PORTS.next, ignoreTLS: true })
  await stranger.sendMail({
    envelope: { from: "feedback@provider.test", to: ["complaints@bounces.acme.test"] },
    raw: complaintReport("RFC 5965, appendix B.1", seal!, "bounces.acme.test"),
  })

  const outcomes = async () => {
    const rows = await run(sql<{
      domain: string
      sent: boolean
      refused: string | null
      reason: string | null
      attempts: number | null
      status: string | null
      suppressed: string | null
    }>`
      select split_part(split_part(email, '@', 2), '.', 1) as domain, sent_at is not null as sent,
        (select cause from late_refusals where recipient_id = recipient.id) as refused,
        (select body::jsonb -> 'data' ->> 'bounce_reason' from events
          where recipient_id = recipient.id and type = 'outreach.email_bounced') as reason,
        (select least(attempts, 1) from messages where recipient_id = recipient.id) as attempts,
        (select split_part(pause_status, ' ', 2) from campaign_domains where campaign_id = recipient.campaign_id and domain = split_part(email, '@', 2)) as status,
        (select suppression.reason from suppressions suppression
          where suppression.organization_id = recipient.organization_id and value = email) as suppressed
      from recipients recipient where campaign_id = ${campaign.id}`)
    return Object.fromEntries(rows.map(({ domain, ...outcome }) => [domain, outcome]))
  }
  const expected = { ...OUTCOMES, ...relay.otherwise }
  const found = await eventually(outcomes, (now) => isDeepStrictEqual(now, expected), 90_000).catch(outcomes)
  expect(found).toEqual(expected)

  // The mail program of the recipient whose message was accepted unsubscribes them.
  const unfolded = message!.replace(/\r?\n[ \t]+/g, " ")
  const address = /^List-Unsubscribe: <https?:[^>]+>, <mailto:([^?>]+)\?subject=unsubscribe>/m.exec(unfolded)![1]!
  const raw = "From: x@accepts.test\r\nSubject: unsubscribe\r\n\r\n"
  await stranger.sendMail({ envelope: { from: "x@accepts.test", to: [address] }, raw })
  const unsubscribed = () =>
    run(sql<{ count: number }>`
      select count(*)::int as count from unsubscriptions join recipients recipient on recipient.id = recipient_id
      where recipient.campaign_id = ${campaign.id} and email = 'x@accepts.test' and from_organization`)
  await eventually(unsubscribed, ([now]) => now!.count > 0, 90_000).catch(unsubscribed)
  expect(await unsubscribed()).toEqual([{ count: 1 }])
}
