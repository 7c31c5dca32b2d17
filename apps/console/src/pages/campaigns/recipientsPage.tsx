import { CampaignReader, type CampaignTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { oneOf } from "@outreach/backoffice/operations/Field"
import {
  type ListedRecipient,
  MAX_LISTED_SCAN,
  OutcomeReader,
  RECIPIENT_LISTS,
  type RecipientListName,
} from "@outreach/backoffice/recipients/OutcomeReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { RecipientId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { Effect, Struct } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Chips, Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, IdLink, isolated, Masked, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { defineCursor } from "../../view/inputs.ts"

const PAGE_SIZE = 50

const WORDS: Readonly<Record<RecipientListName, string>> = {
  imported: "Imported",
  published: "Published",
  sent: "Sent",
  bounced: "Bounced",
  refused_later: "Rejected later",
  opened: "Opened",
  opened_with_bots: "Opened, with suspected bots",
  clicked: "Clicked",
  clicked_with_bots: "Clicked, with suspected bots",
  account_created: "Account created",
  learner_qualified: "Learner",
  completer_qualified: "Completer",
  complained: "Complained",
  unsubscribed: "Unsubscribed",
  quarantined: "Quarantined",
  withdrawn: "Withdrawn",
}

/** Returns the URL of a list of a campaign's recipients. */
export const recipientsOf = (campaignId: string, outcome: RecipientListName): string =>
  `/campaigns/${campaignId}/recipients?outcome=${outcome}`

const recipientCursor = defineCursor({ at: Instant, id: RecipientId })

/** A campaign's recipients by outcome, with masked NPIs and addresses. */
export const recipientsPages = defineMaskedPage("/campaigns/:campaign/recipients", "recipients export", {
  inputs: { outcome: oneOf(Struct.keys(RECIPIENT_LISTS)), before: recipientCursor.input },
  needsReveal: true,
  run: Effect.fnUntraced(function* ({ campaign: id, outcome = "imported", before = null }, { isShown, show }) {
    const { name, organizationId } = yield* (yield* CampaignRepository).find(id)
    const key = { organizationId, campaignId: id }
    const totals = yield* (yield* CampaignReader).totals(key)
    const total = totals[RECIPIENT_LISTS[outcome].total]
    const page = yield* (yield* OutcomeReader).page(key, outcome, PAGE_SIZE, before)
    // The count shows the end before all rows were read.
    const isWhole = page.recipients.length >= total && before === null
    const next = isWhole ? null : page.next
    const hidden = { outcome, before: before === null ? undefined : recipientCursor.of(before), reveal: true }
    return (
      <Page
        title={foreign`Recipients of ${name}`}
        commands={[ops("recipients export", { campaign: id, out: "outcomes.csv", reveal: isShown })]}
      >
        <p>
          Recipients of <IdLink id={id}>{name}</IdLink>, most recently changed first.
        </p>
        <Chips label="Outcomes" chips={chipsOf(id, totals, outcome)} />
        <Table
          title={`${WORDS[outcome]}: ${formatCount(total)}`}
          rows={page.recipients}
          empty={
            next === null
              ? "No recipients."
              : `None of ${formatCount(MAX_LISTED_SCAN)} recipients matches. Older ones are on the next page.`
          }
          columns={columnsOf(isShown)}
        />
        {!isShown && page.recipients.length > 0 && (
          <ActionForm action={show} hidden={hidden} label="Show NPIs and addresses" />
        )}
        <Pager
          address={recipientsOf(id, outcome)}
          next={next === null ? undefined : { before: recipientCursor.of(next) }}
        />
      </Page>
    )
  }),
})

const chipsOf = (campaignId: string, totals: CampaignTotals, chosen: RecipientListName) =>
  Struct.keys(RECIPIENT_LISTS).map((each) => ({
    text: `${WORDS[each]}: ${formatCount(totals[RECIPIENT_LISTS[each].total])}`,
    to: recipientsOf(campaignId, each),
    isChosen: each === chosen,
  }))

const TONES: Partial<Record<ListedRecipient["state"], Tone>> = {
  sent: "good",
  deferred: "warning",
  unknown: "warning",
  withdrawn: "warning",
  quarantined: "bad",
  bounced: "bad",
  refused_later: "bad",
}

const columnsOf = (isShown: boolean) => {
  const masked = (value: string | null, mask: (value: string) => string) =>
    value === null ? "erased" : isShown ? isolated(value) : <Masked>{mask(value)}</Masked>
  return {
    Clinician: ({ id, npi }: ListedRecipient) => (
      <a href={`/people/${id}`}>{npi === null ? "erased" : <>NPI {isShown ? npi : maskNpi(npi)}</>}</a>
    ),
    Address: ({ email }: ListedRecipient) => masked(email, maskEmail),
    Token: ({ token }: ListedRecipient) => <code>{token}</code>,
    State: ({ state, lastReply, ...reasons }: ListedRecipient) => (
      <Noted note={[reasonOf(reasons), lastReply].filter(Boolean).join(": ")}>
        <StatusBadge tone={TONES[state] ?? "neutral"}>{state.replaceAll("_", " ")}</StatusBadge>
      </Noted>
    ),
    Sent: ({ sentAt }: ListedRecipient) => <Time at={sentAt} />,
    Opened: ({ openedOn, unsuspectedOpenedOn }: ListedRecipient) => dateOf(openedOn, unsuspectedOpenedOn),
    Clicked: ({ clickedOn, unsuspectedClickedOn }: ListedRecipient) => dateOf(clickedOn, unsuspectedClickedOn),
    "Last change": ({ at }: ListedRecipient) => <Time at={at} />,
  }
}

const reasonOf = (reasons: Pick<ListedRecipient, "withdrawalReason" | "bounceReason" | "refusalCause">) => {
  const reason = reasons.withdrawalReason ?? reasons.bounceReason ?? reasons.refusalCause
  return reason?.replaceAll("_", " ")
}

const dateOf = (any: string | null, unsuspected: string | null) =>
  unsuspected ?? (any === null ? "–" : <Noted note="bot suspected">{any}</Noted>)
