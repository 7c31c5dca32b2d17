import type { CampaignId } from "@outreach/domain/Identifier"
import { Mailer } from "@outreach/domain/mail/Mailer"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Clock, Effect, Redacted } from "effect"
import { SmtpMailer } from "../../src/mail/SmtpMailer.ts"
import { verifySignatures } from "./verifySignatures.ts"

export const accepted = { _tag: "Accepted", reply: "250 OK: message queued" }
/** Outcome if the server lacks SMTPUTF8. */
export const refused = { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }

const pair = Effect.runSync(Effect.cached(generateDkimKeyPair))

/** Sends a signed message to each address in turn on one connection. Returns the outcomes. */
export const sendSigned = (url: string, ...addresses: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const mailer = yield* Mailer
    const dkim = { domain: "acme.test", keys: [{ selector: "s1", ...(yield* pair) }] }
    const from = { name: "Büro für Einladungen", address: "outreach@acme.test" }
    const lease = {
      campaignId: "cmp_1" as CampaignId,
      beginBy: (yield* Clock.currentTimeNanos) + 60_000_000_000n,
      begin: () => {},
      isHeld: () => true,
    }
    return yield* Effect.forEach(addresses, (to) =>
      mailer.send(
        Effect.succeed({
          sender: { id: null, from, replyTo: null, bounceDomain: null, linkDomain: null, dkim },
          to,
          subject: "Einladung – an invitation",
          html: "<p>Grüße</p>",
          text: "Grüße",
          messageId: "<rcp_1@acme.test>",
          feedbackId: "cmp_1:pgm_1:org_1:outreach",
          returnPath: "bounce-1@bounces.acme.test",
          unsubscribeUrl: "https://outreach.test/unsubscribe/1",
          unsubscribeAddress: "unsubscribe-1@bounces.acme.test",
        }),
        lease,
        Effect.succeed,
      ),
    )
  }).pipe(Effect.provide(SmtpMailer({ url: Redacted.make(url) })), Effect.runPromise)

/** Verifies the signature of a message sent by `sendSigned`. Returns the result. */
export const verifySignature = async (text: string) => {
  const { publicKey } = await Effect.runPromise(pair)
  const [signature] = await verifySignatures(text, { "s1._domainkey.acme.test": `v=DKIM1; k=rsa; p=${publicKey}` })
  return signature?.status.result
}
