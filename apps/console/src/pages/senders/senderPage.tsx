import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount, formatDuration } from "@outreach/backoffice/format"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { SenderId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { describeRamp, type RampState } from "@outreach/domain/senders/Ramp"
import {
  DKIM_OVERLAP_DAYS,
  DKIM_RECORD_DAYS,
  dkimKeyState,
  formatFrom,
  type SenderWithKeys,
} from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSenderKey, updateSender, verifySender } from "@outreach/domain/senders/Senders"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect } from "effect"
import { ActionForm, ConfirmLink, Folded } from "../../components/forms.tsx"
import { Facts, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Code, ForeignText, foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { pickDefined } from "../../http/inputs.ts"
import { refuseChanged } from "../../http/PageError.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { CampaignTable } from "../campaigns/CampaignsPage.tsx"
import { removeSenderPage } from "./removeSenderPages.tsx"
import { SenderLookUps } from "./SenderLookUps.ts"
import { SenderRecords } from "./SenderRecords.tsx"
import { describeFailures, selectorInput, senderFaults, senderInputs } from "./senderInputs.ts"
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
      <ActionForm action={verifyAction} params={params} label="Verify" isPrimary={isToBeVerified(sender)} />
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
      <Folded action={updateAction} title="Change">
        <p>The From or bounce domain of a live sender changes only if the new domain's DNS records exist.</p>
        <ActionForm
          action={updateAction}
          params={params}
          label="Change the sender"
          version={sender.updatedAt}
          controls={{
            from: { value: formatFrom(sender) },
            "reply-to": { value: sender.replyTo ?? "none" },
            "bounce-domain": { value: sender.bounceDomain ?? "none" },
            "link-domain": { value: sender.linkDomain ?? "none" },
            ramp: {
              hint: "Maximum messages per day from now on; none: unlimited; empty: no change",
            },
          }}
        />
      </Folded>
      <ConfirmLink page={removeSenderPage} params={params} label="Remove" />
    </Page>
  )
}

const isToBeVerified = ({ liveSince, keys, linkDomain, linkDomainVerifiedAt }: SenderWithKeys): boolean =>
  liveSince === null ||
  keys.some(({ signsFrom }) => signsFrom === null) ||
  (linkDomain !== null && linkDomainVerifiedAt === null)

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
    <ul class="problems">
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
    <Folded action={rotateAction} title="Rotate the key">
      <p>
        The next key is used after its record is published and verified. The old key also signs for {DKIM_OVERLAP_DAYS}{" "}
        days; keep its record for {DKIM_RECORD_DAYS} days after that. An unused key is replaced.
      </p>
      <ActionForm action={rotateAction} params={{ sender: sender.id }} label="Add the next key" />
    </Folded>
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

const verifyAction = defineAction("/senders/:sender/verify", "senders verify", {
  role: "operator",
  run: Effect.fnUntraced(function* ({ sender: id }) {
    const { lookUp } = yield* SenderLookUps
    const { sender } = yield* describeFailures(verifySender(id, lookUp))
    return isToBeVerified(sender)
      ? "Verified. Within a minute, workers use this sender, its newest key and its link domain."
      : "The DNS records are correct."
  }),
})

const rotateAction = defineAction("/senders/:sender/rotate-dkim", "senders rotate-dkim", {
  role: "admin",
  inputs: selectorInput,
  faults: { SelectorTaken: "selector" },
  run: Effect.fnUntraced(function* ({ sender, selector }) {
    yield* addSenderKey(sender, { ...(yield* generateDkimKeyPair), selector })
    return "Key created. Publish its record, then verify the sender."
  }),
})

const updateAction = defineAction("/senders/:sender/update", "senders update", {
  role: "admin",
  inputs: senderInputs,
  faults: senderFaults,
  run: Effect.fnUntraced(function* ({ sender, from, ramp, ...given }, { version }) {
    const { linkHost, lookUp } = yield* SenderLookUps
    yield* refuseChanged(version, (yield* (yield* SenderRepository).find(sender)).updatedAt)
    const changes = pickDefined({
      from,
      ramp,
      replyTo: given["reply-to"],
      bounceDomain: given["bounce-domain"],
      linkDomain: given["link-domain"],
    })
    const changed = yield* describeFailures(updateSender(sender, changes, { linkHost, lookUp }))
    return isToBeVerified(changed)
      ? "Saved. Publish the new DNS records, then verify the sender."
      : "Saved. The change takes effect within a minute."
  }),
})

export const senderRoutes = [senderPage, verifyAction, rotateAction, updateAction] as const
