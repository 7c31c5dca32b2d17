import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount, formatDuration } from "@outreach/backoffice/format"
import { rotateDkimKey, updateSender, verifySender } from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { SenderId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { describeRamp, type RampState } from "@outreach/domain/senders/Ramp"
import { dkimKeyState, formatFrom, isToBeVerified } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ActionForm, ConfirmLink, Disclosure } from "../../components/forms.tsx"
import { Facts, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Code, ForeignText, foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { CampaignTable } from "../campaigns/CampaignsPage.tsx"
import { removeSenderPage } from "./removeSenderPages.tsx"
import { SenderLookUps } from "./SenderLookUps.ts"
import { SenderRecords } from "./SenderRecords.tsx"
import { SenderBadge } from "./sendersPage.tsx"

const MAX_CAMPAIGNS = 20

const senderPage = definePage("/senders/:sender", {
  run: ({ sender }, { now }) => Effect.map(readSender(sender, now), contentOf),
})

const readSender = Effect.fnUntraced(function* (id: SenderId, now: number) {
  const sender = yield* (yield* SenderRepository).find(id)
  const { organizationId, programId } = sender
  const { recordsOf, lastOf } = yield* SenderLookUps
  return {
    sender,
    organization: yield* (yield* OrganizationReader).find(organizationId),
    program: programId === null ? undefined : yield* (yield* ProgramRepository).find(programId),
    campaigns: yield* (yield* CampaignReader).list(
      { organizationId, ...(programId !== null && { programId }), senderId: id },
      MAX_CAMPAIGNS,
    ),
    records: recordsOf(sender),
    lookUp: yield* lastOf(sender, now),
    now,
  }
})

type SenderView = Effect.Success<ReturnType<typeof readSender>>

const contentOf = (view: SenderView) => {
  const { sender, campaigns, records, lookUp } = view
  const { id, ramp } = sender
  const params = { sender: id }
  return (
    <Page
      title={<ForeignText>{formatFrom(sender)}</ForeignText>}
      state={<SenderBadge {...sender} />}
      id={id}
      commands={[ops("senders show", id), ops("senders verify", id), ops("senders rotate-dkim", id)]}
    >
      <Problems {...view} />
      <ActionForm action={verifyAction} params={params} isPrimary={isToBeVerified(sender)} />
      <SenderRecords records={records} lookUp={lookUp} />
      <SenderFacts {...view} />
      <DkimKeys {...view} />
      {ramp !== null && <RampDays {...ramp} />}
      <CampaignTable
        title="Campaigns"
        caption="Campaigns with this sender, newest first"
        rows={campaigns}
        empty={
          sender.liveSince === null
            ? "None until the sender is verified."
            : "No campaigns use this sender. A program without a separate sender uses the organization's."
        }
      />
      <Disclosure action={updateAction} title="Change">
        <p>The From or bounce domain of a live sender changes only if the new domain's DNS records exist.</p>
        <ActionForm action={updateAction} params={params} found={sender} />
      </Disclosure>
      <ConfirmLink page={removeSenderPage} params={params} label="Remove" />
    </Page>
  )
}

const Problems = ({ sender, lookUp }: SenderView) => {
  const failed = lookUp?.findings.filter(({ status }) => status === "failed") ?? []
  const waiting = isToBeVerified(sender) && (
    <li>
      {sender.liveSince === null
        ? "The sender isn't used yet. Publish the records below, then verify it."
        : "A change isn't used yet. Publish the new record below, then verify the sender."}
    </li>
  )
  if (!waiting && failed.length === 0) return null
  return (
    <ul class="problem">
      {waiting}
      {failed.map(({ found, record }) => (
        <li key={record}>
          <a href="#records">
            <ForeignText>{found}</ForeignText>
          </a>
        </li>
      ))}
    </ul>
  )
}

const SenderFacts = ({ sender, organization, program }: SenderView) => (
  <Section title="Facts">
    <Facts
      facts={{
        Organization: <IdLink id={organization.id}>{organization.name}</IdLink>,
        "Sends for": program ? <IdLink id={program.id}>{program.name}</IdLink> : "programs without a separate sender",
        "Reply-to": sender.replyTo ?? "the From address",
        "DKIM domain": sender.dkimDomain,
        "Bounce domain": sender.bounceDomain ?? "the deployment's",
        "Link domain": sender.linkDomain ?? "the deployment's",
        "Links verified": sender.linkDomain !== null && <Time at={sender.linkDomainVerifiedAt} none="not yet" />,
        Ramp: describeRamp(sender.ramp) ?? "none (unlimited)",
        Live: <Time at={sender.liveSince} none="not yet" />,
        Added: <Time at={sender.createdAt} />,
      }}
    />
  </Section>
)

const DkimKeys = ({ sender, now }: SenderView) => (
  <Section title="DKIM keys" id="keys">
    <Table
      label="DKIM keys, newest first"
      rows={sender.keys}
      columns={{
        Selector: ({ selector }) => <Code>{selector}</Code>,
        State: (key) => (
          <StatusBadge tone={key.isSigning ? "good" : key.signsFrom === null ? "warning" : "neutral"}>
            {dkimKeyState(key)}
          </StatusBadge>
        ),
        Age: ({ createdAt }) => formatDuration((now - toUnixMillis(createdAt)) / 1000),
        "Signs from": ({ signsFrom }) => <Time at={signsFrom} none="not verified" />,
        "Signs until": ({ signsUntil }) => <Time at={signsUntil} none="until replaced" />,
      }}
    />
    <Disclosure action={rotateAction} title="Rotate the key">
      <p>The next key is used after its record is published and verified. An unused key is replaced.</p>
      <ActionForm action={rotateAction} params={{ sender: sender.id }} />
    </Disclosure>
  </Section>
)

const RampDays = ({ daily, day, sentToday }: RampState) => (
  <Table
    title="Ramp"
    label="Maximum messages per sending day (UTC)"
    rows={daily.split(",").map((most, i) => ({ most: Number(most), number: i + 1 }))}
    columns={{
      Day: { count: ({ number }) => number },
      Maximum: { count: ({ most }) => most },
      State: ({ number }) =>
        number < day ? "done" : number > day ? "upcoming" : foreign`today: ${formatCount(sentToday ?? 0)} sent`,
    }}
  />
)

const verifyAction = operationAction("/senders/:sender/verify", verifySender, { omit: ["dnsServer"] })
const rotateAction = operationAction("/senders/:sender/rotate-dkim", rotateDkimKey, { omit: ["dkimKey"] })
const updateAction = operationAction("/senders/:sender/update", updateSender, { omit: ["dnsServer"] })

export const senderRoutes = [senderPage, verifyAction, rotateAction, updateAction] as const
