import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { composeSent, EventPublisher } from "@outreach/domain/events/Event"
import { type CampaignId, createIdentifier, type ProgramId } from "@outreach/domain/Identifier"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { createProgram } from "@outreach/domain/programs/Programs"
import { checkDigit, EmailAddress, Npi } from "@outreach/domain/recipients/Clinician"
import type { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"
import { value, withTimestamp } from "./sql.ts"

/** The sender's details of the tests' programs. */
export const SENDER = { senderName: "Acme Health", postalAddress: "1 Main Street, Springfield, IL 62701" } as const

/** The same as flags of `ops programs create` and `update`. */
export const SENDER_FLAGS = ["--sender-name", SENDER.senderName, "--postal-address", SENDER.postalAddress] as const

/** The end of an HTML body, with the contents that each e-mail needs. */
export const FOOTER = `<p>{{ sender_name }}, {{ postal_address }}. <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`

/** A valid NPI for each number up to 99,999,999. */
export const npi = (n: number): Npi => {
  const nine = `1${String(n).padStart(8, "0")}`
  return Npi.make(nine + checkDigit(nine))
}

export const email = (n: number, domain = "clinic.test"): EmailAddress => EmailAddress.make(`clinician${n}@${domain}`)

/** Creates an organization with a secret and an endpoint, a program, a draft campaign with a window of an hour, and its recipients. */
export const seedCampaign = Effect.fnUntraced(function* (options: {
  readonly recipients: number
  readonly endpointUrl?: string
  /** Seconds from now until the window opens; default 0. */
  readonly opensIn?: number
  /** Domain of the recipients' addresses; default clinic.test. */
  readonly emailDomain?: string
  readonly subject?: string
  /** Recipient fields that the templates may name; default none. */
  readonly fields?: ReadonlyArray<string>
  readonly fieldsOf?: (n: number) => RecipientFields
}) {
  const organization = yield* createOrganization("Acme Health")
  const secret = yield* rotateSecret(organization.id, 0)
  const endpoint = yield* (yield* EndpointRepository).create({
    organizationId: organization.id,
    id: yield* createIdentifier("endpoint"),
    url: PrivateEndpointUrl.make(options.endpointUrl ?? "https://partner.test/webhooks"),
    eventTypes: null,
  })
  const program = yield* createProgram({
    organizationId: organization.id,
    slug: "heart-failure",
    name: "Heart failure",
    ...SENDER,
  })
  const opens = (yield* Clock.currentTimeMillis) + 1000 * (options.opensIn ?? 0)
  const campaign = yield* createCampaign({
    programId: program.id,
    name: "Spring",
    kind: "traffic",
    subject: options.subject ?? "An invitation to {{ program_name }}",
    html: `<p>Your link: https://l.test/{{ token }}</p>${FOOTER}`,
    windowStart: fromUnixMillis(opens),
    windowEnd: fromUnixMillis(opens + 3_600_000),
    ...(options.fields && { fields: options.fields }),
  })
  const lines = Array.from({ length: options.recipients }, (_, i) => ({
    number: i + 2,
    npi: npi(i),
    email: email(i, options.emailDomain),
    ...(options.fieldsOf && { fields: options.fieldsOf(i) }),
  }))
  yield* importLines(campaign.id, lines)
  return { organization, secret, endpoint, program, campaign }
})

/** Publishes events of a campaign in one transaction. Returns their ids. */
export const publishTogether = Effect.fnUntraced(function* (campaign: Campaign, count: number) {
  const events = yield* Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function* () {
      const recipientId = yield* createIdentifier("recipient")
      return yield* composeSent({ ...campaign, campaignId: campaign.id, recipientId, token: "aB3dE9" })
    }),
  )
  yield* withTimestamp(campaign.organizationId, (at) => EventPublisher.use(({ publish }) => publish(events, at)))
  return events.map(({ id }) => id)
})

/** Publishes events of a campaign, each in its own transaction with one delivery for each endpoint. Returns their ids. */
export const publishSent = (campaign: Campaign, count: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () => publishTogether(campaign, 1)),
    (ids) => ids.flat(),
  )

/** Inserts a draft campaign with the e-mail and window of another one, by default in its program. Returns its id. */
export const copyCampaign = (campaignId: CampaignId, programId: ProgramId | null = null) =>
  value<CampaignId>`
    insert into campaigns (organization_id, id, program_id, name, kind, subject, html, window_start, window_end)
    select organization_id, make_id('cmp'), coalesce(${programId}::text, program_id), name, kind, subject, html, window_start, window_end
    from campaigns where id = ${campaignId} returning id`
