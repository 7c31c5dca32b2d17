import { BOUNCE_REASONS, EVENTS, type EventType, eventExamples, RECIPIENTS_PER_EVENT } from "@outreach/contract"
import { type Html, html, prose } from "./html.ts"
import { code, section } from "./layout.ts"

/** What there is to know of each event beside its description in the contract. */
const NOTES = {
  "outreach.recipients_published": `Seat the tokens before the first click arrives. One event carries at most ${RECIPIENTS_PER_EVENT} recipients; a larger campaign comes in several, in any order.`,
  "outreach.email_sent": "The receiving server has accepted the message.",
  "outreach.email_bounced": `Mark the token as undeliverable: no account will be created through it. \`bounce_reason\` is one of ${BOUNCE_REASONS.map((reason) => `\`${reason}\``).join(", ")}, and others may be added.`,
  "outreach.email_opened":
    "Opens are a weak signal: mail clients that load images by themselves open everything. `is_bot_suspected` is a hint from known scanners and from hits within a second.",
  "outreach.email_clicked":
    "Clicks are more reliable than opens. Events are sent whether or not a bot is suspected: decide yourself what to leave out.",
  "clinician.account_created":
    "Send it for every account, so that nobody is invited who is already with you. With `attribution` set to `service_token`, `token` is required.",
  "clinician.learner_qualified":
    "Counts once for each clinician and program, and takes back invitations to that clinician that were not sent yet.",
  "clinician.completer_qualified":
    "Counts as a completer only. If the clinician has become a learner as well, say so with that event.",
} as const satisfies Record<EventType, string>

/** The events that go one way, each with an example of its body. */
export const eventCatalogue = (direction: "to_consumer" | "to_service"): ReadonlyArray<Html> =>
  (Object.keys(EVENTS) as ReadonlyArray<EventType>)
    .filter((type) => EVENTS[type].direction === direction)
    .map((type) =>
      section(
        type,
        html`<code>${type}</code>`,
        html`<p>${prose(EVENTS[type].description)} ${prose(NOTES[type])}</p>
${code(`Example of ${type}`, JSON.stringify(eventExamples[type], null, 2))}`,
      ),
    )
