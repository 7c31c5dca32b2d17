import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { CampaignReader } from "@outreach/postgres/campaigns/CampaignReader"
import { Effect, Schema } from "effect"
import { Facts } from "../../components/Facts.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { definePage } from "../../http/Route.ts"
import { preview } from "./campaignMail.ts"

/** How many recipients a preview is offered for. */
const SAMPLES = 3

const VIEWS = { html: "HTML", phone: "On a phone", text: "Text" } as const
type MailView = keyof typeof VIEWS

/** A campaign's e-mail as it would be sent: to nobody, or to one of its recipients. */
export const campaignMailPage = definePage({
  path: "/campaigns/:campaign/mail",
  section: "campaigns",
  role: "viewer",
  params: { campaign: CampaignId },
  query: {
    view: Schema.Literals(["html", "phone", "text"]).annotate({ expected: "html, phone or text" }),
    recipient: RecipientId,
  },
  read: Effect.fnUntraced(function* ({ campaign: campaignId, view = "html", recipient }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const key = { organizationId: campaign.organizationId, campaignId }
    const { subject, subjectB } = yield* preview(campaign)
    const mayReveal = mayActAs(operator.role, "operator")
    const samples = mayReveal ? yield* (yield* CampaignReader).samples(key, SAMPLES) : []
    const path = `/campaigns/${campaignId}/mail`
    const linkTo = (to: { readonly view: MailView; readonly recipient: string | undefined }) =>
      `${path}?view=${to.view}${to.recipient === undefined ? "" : `&recipient=${to.recipient}`}`
    const frame = `${path}/${view === "text" ? "text" : "html"}${recipient === undefined ? "" : `/${recipient}`}`
    const people = [
      { id: undefined, words: "A placeholder" },
      ...samples.map(({ id, email }) => ({ id, words: maskEmail(email) })),
    ]
    return {
      title: `The e-mail of ${campaign.name}`,
      heading: (
        <>
          The e-mail of <ForeignText>{campaign.name}</ForeignText>
        </>
      ),
      commands: [`ops campaigns preview ${campaignId} --out previews`],
      body: (
        <>
          <p>
            <a href={`/campaigns/${campaignId}`}>Back to the campaign</a>
          </p>
          <Facts facts={{ Subject: subject, "Subject B": subjectB }} />
          <nav aria-label="How it is shown">
            <ul class="chips">
              {Object.entries(VIEWS).map(([name, words]) => (
                <li key={name}>
                  <a
                    href={linkTo({ view: name as MailView, recipient })}
                    aria-current={name === view ? "page" : undefined}
                  >
                    {words}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <nav aria-label="To whom it is written">
            <ul class="chips">
              {people.map(({ id, words }) => (
                <li key={id}>
                  <a href={linkTo({ view, recipient: id })} aria-current={id === recipient ? "page" : undefined}>
                    <ForeignText>{words}</ForeignText>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
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
