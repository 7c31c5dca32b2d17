import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount, formatDuration } from "@outreach/backoffice/format"
import { senderState, senders } from "@outreach/backoffice/lists/senders"
import {
  removeLinkDomain,
  removeSender,
  rotateDkimKey,
  updateSender,
  verifySender,
} from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { describeRamp, type RampState } from "@outreach/domain/senders/Ramp"
import { dkimKeyState, formatFrom, isToBeVerified } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Page, ProblemLinks, Section, Table } from "../../components/layout.tsx"
import { Code, ForeignText, foreign, renderValue } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { CampaignTable } from "../campaigns/campaignsPages.tsx"
import { newSenderPage } from "../newPages.tsx"
import { SenderLookUps } from "./SenderLookUps.ts"
import { SenderRecords } from "./SenderRecords.tsx"

const sendersPages = listPage("/senders", senders, {
  read: ({ filter: { organizationId } }) =>
    Effect.all({ domains: LinkDomainRepository.use(({ list }) => list(organizationId)) }),
  around: ({ filter: { organizationId: organization }, domains, rows, objects, context }) => ({
    above: <ConfirmLink page={newSenderPage} query={{ organization }} isPrimary />,
    below: domains.length > 0 && (
      <Table
        title="Link domains"
        label="Link domains, including those without a sender"
        rows={domains}
        columns={{
          Domain: ({ domain }) => domain,
          Organization: ({ organizationId: id }) => ({ id, name: objects.nameOf(id) ?? id }),
          Verified: ({ verifiedAt }) => ({ at: verifiedAt, none: "not yet" }),
          Remove:
            context.operator.organizationId === null &&
            (({ domain }) =>
              rows.every(({ linkDomain }) => linkDomain !== domain) && (
                <ConfirmLink page={removeLinkDomainRoutes[0]} query={{ "link-domain": domain }} />
              )),
        }}
      />
    ),
  }),
})

const to = "/senders"

const removeSenderRoutes = operationConfirmation("/senders/:sender/remove", removeSender, { to })

const removeLinkDomainRoutes = operationConfirmation("/senders/link-domain/remove", removeLinkDomain, {
  chosen: ["linkDomain"],
  to,
})

const MAX_CAMPAIGNS = 20

const senderPage = definePage("/senders/:sender", {
  run: Effect.fnUntraced(function* ({ sender: id }, { now }) {
    const sender = yield* (yield* SenderRepository).find(id)
    const { organizationId, programId, liveSince, ramp } = sender
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const program = programId === null ? undefined : yield* (yield* ProgramRepository).find(programId)
    const filter = { organizationId, ...(programId !== null && { programId }), senderId: id }
    const campaigns = yield* (yield* CampaignReader).list(filter, MAX_CAMPAIGNS)
    const { recordsOf, lastOf } = yield* SenderLookUps
    const lookUp = yield* lastOf(sender, now)
    const params = { sender: id }
    return (
      <Page
        title={<ForeignText>{formatFrom(sender)}</ForeignText>}
        state={renderValue(senderState(sender))}
        id={id}
        commands={[
          ["senders show", id],
          ["senders verify", id],
          ["senders rotate-dkim", id],
        ]}
      >
        <ProblemLinks
          of={[
            isToBeVerified(sender) && [
              "#records",
              liveSince === null
                ? "The sender isn't used yet. Publish the records below, then verify it."
                : "A change isn't used yet. Publish the new record below, then verify the sender.",
            ],
            ...(lookUp?.findings ?? []).map(
              ({ status, found }) => status === "failed" && (["#records", found] as const),
            ),
          ]}
        />
        <ActionForm action={verifyAction} params={params} isPrimary={isToBeVerified(sender)} />
        <SenderRecords records={recordsOf(sender)} lookUp={lookUp} />
        <Section title="Facts">
          <Facts
            facts={{
              Organization: organization,
              "Sends for": program ?? "programs without a separate sender",
              "Reply-to": sender.replyTo ?? "the From address",
              "DKIM domain": sender.dkimDomain,
              "Bounce domain": sender.bounceDomain ?? "the deployment's",
              "Link domain": sender.linkDomain ?? "the deployment's",
              "Links verified": sender.linkDomain !== null && { at: sender.linkDomainVerifiedAt, none: "not yet" },
              Ramp: describeRamp(ramp) ?? "none (unlimited)",
              Live: { at: liveSince, none: "not yet" },
              Added: { at: sender.createdAt },
            }}
          />
        </Section>
        <Section title="DKIM keys" id="keys">
          <Table
            label="DKIM keys, newest first"
            rows={sender.keys}
            columns={{
              Selector: ({ selector }) => <Code>{selector}</Code>,
              State: (key) => ({
                tone: key.isSigning ? "good" : key.signsFrom === null ? "warning" : "neutral",
                word: dkimKeyState(key),
              }),
              Age: ({ createdAt }) => formatDuration((now - toUnixMillis(createdAt)) / 1000),
              "Signs from": ({ signsFrom }) => ({ at: signsFrom, none: "not verified" }),
              "Signs until": ({ signsUntil }) => ({ at: signsUntil, none: "until replaced" }),
            }}
          />
          <ActionForm title="Rotate the key" action={rotateAction} params={params}>
            <p>The next key is used after its record is published and verified. An unused key is replaced.</p>
          </ActionForm>
        </Section>
        {ramp !== null && <RampDays {...ramp} />}
        <CampaignTable
          title="Campaigns"
          caption="Campaigns with this sender, newest first"
          rows={campaigns}
          empty={
            liveSince === null
              ? "None until the sender is verified."
              : "No campaigns use this sender. A program without a separate sender uses the organization's."
          }
        />
        <ActionForm title="Change" action={updateAction} params={params} found={sender}>
          <p>The From or bounce domain of a live sender changes only if the new domain's DNS records exist.</p>
        </ActionForm>
        <ConfirmLink page={removeSenderRoutes[0]} params={params} />
      </Page>
    )
  }),
})

const RampDays = ({ daily, day, sentToday }: RampState) => (
  <Table
    title="Ramp"
    label="Maximum messages per sending day (UTC)"
    rows={daily.split(",").map((most, i) => ({ most: Number(most), number: i + 1 }))}
    columns={{
      Day: { number: ({ number }) => number },
      Maximum: { number: ({ most }) => most },
      State: ({ number }) =>
        number < day ? "done" : number > day ? "upcoming" : foreign`today: ${formatCount(sentToday ?? 0)} sent`,
    }}
  />
)

const verifyAction = operationAction("/senders/:sender/verify", verifySender, { omit: ["dnsServer"] })
const rotateAction = operationAction("/senders/:sender/rotate-dkim", rotateDkimKey, { omit: ["dkimKey"] })
const updateAction = operationAction("/senders/:sender/update", updateSender, { omit: ["dnsServer"] })

export const senderRoutes = [
  ...sendersPages,
  senderPage,
  verifyAction,
  rotateAction,
  updateAction,
  ...removeLinkDomainRoutes,
  ...removeSenderRoutes,
] as const
