import { generateKeyPairSync } from "node:crypto"
import { readFileSync } from "node:fs"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import type { Mail } from "@outreach/domain/mail/Transport"
import { composeMail } from "@outreach/domain/mail/templates/composeMail"
import { wrapInPlainLayout } from "@outreach/domain/mail/templates/wrapInPlainLayout"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { createComposer } from "@outreach/mail/messageComposer"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { SENDER } from "@outreach/testing/seedCampaign"
import { Effect, Layer, Redacted } from "effect"
import { INVITATION } from "../../src/seed/launchCampaign.ts"

// The shortest possible e-mail.
const FRAGMENT = `<p><a href="https://partner.example/{{ token }}">Take part in {{ program_name }}</a></p>`

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const sender = {
  id: null,
  from: { name: SENDER.senderName, address: "outreach@acme.example" },
  replyTo: null,
  bounceDomain: null,
  linkDomain: null,
  dkim: {
    domain: "acme.example",
    keys: [
      {
        selector: "outreach",
        privateKey: Redacted.make(privateKey.export({ type: "pkcs8", format: "pem" }) as string),
      },
    ],
  },
}

const services = Effect.runSync(
  Effect.all({ links: TrackingLinks, returnPaths: ReturnPaths }).pipe(
    Effect.provide(
      Layer.merge(TrackingLinks.below("https://outreach.acme.example"), ReturnPaths.at("bounces.acme.example")).pipe(
        Layer.provide(NodeTrackingSeal(SECRETS_RING)),
      ),
    ),
  ),
)

const compose = (html: string): Mail =>
  composeMail(
    {
      ...{
        subject: "An invitation to {{ program_name }}",
        preheader: null,
        html,
        text: null,
        fields: [],
        shortLink: null,
      },
      ...{ campaignName: "Spring", programName: "Heart failure update", ...SENDER },
    },
    { ...services, sender, receivesMail: true },
  )({
    organizationId: OrganizationId.make(`org_${"1".repeat(32)}`),
    campaignId: CampaignId.make(`cmp_${"2".repeat(32)}`),
    programId: ProgramId.make(`pgm_${"3".repeat(32)}`),
    recipientId: RecipientId.make(`rcp_${"4".repeat(32)}`),
    token: "aB3dE9",
    email: EmailAddress.make("dana.reyes@clinic.example"),
  })

/** This repository's mails, composed as they are sent. */
export const composedMails: ReadonlyArray<readonly [name: string, mail: Mail]> = [
  ["the sandbox's invitation", compose(readFileSync(INVITATION, "utf8"))],
  ["the plain layout", compose(wrapInPlainLayout(FRAGMENT))],
]

/** Serializes a signed mail as it is sent. */
export const writeMessage = async (mail: Mail): Promise<string> =>
  Buffer.from(createComposer(sender)(mail).message).toString()
