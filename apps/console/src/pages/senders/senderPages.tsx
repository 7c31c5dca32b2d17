import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatDuration } from "@outreach/backoffice/format"
import { campaigns as campaignList, toCampaignRow } from "@outreach/backoffice/operations/campaignReports"
import {
  createSender,
  removeLinkDomain,
  removeSender,
  rotateDkimKey,
  senderState,
  senders,
  updateSender,
  verifySender,
} from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { Finding } from "@outreach/domain/operators/Finding"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { type DnsRecord, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { describeRamp, dkimKeyState, formatFrom, isToBeVerified } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Advice, FINDING_TONES } from "../../components/Findings.tsx"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Live, Page, ProblemLinks, Section, Table } from "../../components/layout.tsx"
import { Code, CopyLine, ForeignText, Noted, Prose, renderValue, StatusBadge, Time } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { campaignCells } from "../campaigns/campaignsPages.tsx"
import { type LookUp, SenderLookUps } from "./SenderLookUps.ts"

export const newSender = {
  title: "Add a sender",
  action: operationAction("/senders/new", createSender, { omit: ["dkimKey"] }),
}

const sendersPages = listPage("/senders", senders, {
  create: newSender,
  around: ({ filter, rows, objects, context }) =>
    Effect.map(
      LinkDomainRepository.use(({ list }) => list(filter.organizationId)),
      (domains) => ({
        below: (
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
    ),
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
              "Maximum per day (UTC)": ramp?.daily.replaceAll(",", ", "),
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
        <ListTable
          title="Campaigns"
          caption="Campaigns with this sender, newest first"
          list={campaignList}
          rows={campaigns.map(toCampaignRow)}
          cells={campaignCells}
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

const AGAIN_SECONDS = 60
/** During the query. */
const SOON_SECONDS = 2

/** A sender's DNS records, each as a line to publish with the result of its query. */
const SenderRecords = (props: { readonly records: ReadonlyArray<DnsRecord>; readonly lookUp: LookUp | undefined }) => {
  const { records, lookUp } = props
  const findings = new Map(lookUp?.findings.map((finding) => [finding.record, finding]))
  const published = records.map((record) => ({ name: `${record.type} ${record.name}`, line: formatDnsRecord(record) }))
  const others = [...findings.keys()].filter((name) => published.every((record) => record.name !== name))
  return (
    <Live id="records" seconds={lookUp === undefined ? SOON_SECONDS : AGAIN_SECONDS}>
      <Section title="DNS records">
        <p>
          {lookUp === undefined ? (
            "Looking up the DNS records. Reload the page in a few seconds."
          ) : (
            <>
              Publish each line at your DNS provider. Last lookup: <Time at={lookUp.at} />.
            </>
          )}
        </p>
        <Table
          label="DNS records"
          rows={[...published, ...others.map((name) => ({ name, line: undefined }))]}
          columns={{
            Record: ({ name }) => <Code>{name}</Code>,
            "Line to publish": ({ line }) => (line === undefined ? "–" : <CopyLine>{line}</CopyLine>),
            "DNS result": ({ name }) => <DnsResult finding={findings.get(name)} isKnown={lookUp !== undefined} />,
          }}
        />
      </Section>
    </Live>
  )
}

const DNS_WORDS = { failed: "wrong", warning: "warning", ok: "found", skipped: "not looked up" } as const

const DnsResult = (props: { readonly finding: Finding | undefined; readonly isKnown: boolean }) => {
  const { finding, isKnown } = props
  if (finding === undefined) return <>{isKnown ? "Keep it published. Verify only checks new records." : "…"}</>
  return (
    <Noted note={finding.advice !== null && <Advice finding={finding} />}>
      <StatusBadge tone={FINDING_TONES[finding.status]}>{DNS_WORDS[finding.status]}</StatusBadge>{" "}
      <Prose>{finding.found}</Prose>
    </Noted>
  )
}

const verifyAction = operationAction("/senders/:sender/verify", verifySender, { omit: ["dnsServer"] })
const rotateAction = operationAction("/senders/:sender/rotate-dkim", rotateDkimKey, { omit: ["dkimKey"] })
const updateAction = operationAction("/senders/:sender/update", updateSender, { omit: ["dnsServer"] })

export const senderRoutes = [
  ...[...sendersPages, newSender.action, senderPage, verifyAction, rotateAction, updateAction],
  ...[...removeLinkDomainRoutes, ...removeSenderRoutes],
] as const
