import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { RecipientId } from "@outreach/domain/Identifier"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { Effect } from "effect"
import { Chips, Facts, LinkLine, withQuery } from "../../components/lists.tsx"
import { foreign } from "../../components/values.tsx"
import { oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { preview } from "./campaignMail.ts"

/** How many recipients a preview is offered for. */
const SAMPLES = 3

const VIEWS = { html: "HTML", phone: "On a phone", text: "Text" } as const
const VIEW_NAMES = ["html", "phone", "text"] as const

/** A campaign's e-mail as it would be sent: to nobody, or to one of its recipients. */
export const campaignMailPage = definePage({
  path: "/campaigns/:campaign/mail",
  query: { view: oneOf(VIEW_NAMES), recipient: RecipientId },
  read: Effect.fnUntraced(function* ({ campaign: campaignId, view = "html", recipient }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const key = { organizationId: campaign.organizationId, campaignId }
    const { subject, subjectB } = yield* preview(campaign)
    const samples = mayActAs(operator.role, "operator") ? yield* (yield* CampaignReader).samples(key, SAMPLES) : []
    const path = `/campaigns/${campaignId}/mail`
    const frame = `${path}/${view === "text" ? "text" : "html"}${recipient === undefined ? "" : `/${recipient}`}`
    const people = [
      { id: undefined, words: "A placeholder" },
      ...samples.map(({ id, email }) => ({ id, words: maskEmail(email) })),
    ]
    return {
      title: foreign`The e-mail of ${campaign.name}`,
      commands: [`ops campaigns preview ${campaignId} --out previews`],
      body: (
        <>
          <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>
          <Facts facts={{ Subject: subject, "Subject B": subjectB }} />
          <Chips
            label="How it is shown"
            chips={VIEW_NAMES.map((name) => ({
              text: VIEWS[name],
              to: withQuery(path, { view: name, recipient }),
              isChosen: name === view,
            }))}
          />
          <Chips
            label="To whom it is written"
            chips={people.map(({ id, words }) => ({
              text: words,
              to: withQuery(path, { view, recipient: id }),
              isChosen: id === recipient,
            }))}
          />
          <p>
            {recipient === undefined ? (
              "Samples such as [first_name] stand for the recipient's fields."
            ) : (
              <>
                This e-mail holds the fields of <a href={`/people/${recipient}`}>this recipient</a>; the audit log
                records that you looked at it.
              </>
            )}{" "}
            Its links record nothing, and nothing is loaded from elsewhere.
          </p>
          <iframe class={`mail ${view}`} title={`The e-mail, ${VIEWS[view].toLowerCase()}`} sandbox="" src={frame} />
        </>
      ),
    }
  }),
})
