import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { campaigns as campaignList, toCampaignRow } from "@outreach/backoffice/operations/campaignReports"
import { digests } from "@outreach/backoffice/operations/digests"
import { readAll } from "@outreach/backoffice/operations/List"
import {
  archiveProgram,
  createProgram,
  PROGRAM_TONES,
  programs,
  updateProgram,
} from "@outreach/backoffice/operations/programs"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { addDays, dateAt, quotaStatus } from "@outreach/domain/digest/Digest"
import { ProgramNotFound } from "@outreach/domain/programs/Programs"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { Effect } from "effect"
import { Funnel } from "../../components/Funnel.tsx"
import { ActionForm } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Page, Section } from "../../components/layout.tsx"
import { Code, ForeignText, StatusBadge, senderLink, Time } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { ComplaintRate, campaignCells, feedbackFacts, newCampaign } from "../campaigns/campaignsPages.tsx"
import { newSender } from "../senders/senderPages.tsx"

export const newProgram = { title: "Add a program", action: operationAction("/programs/new", createProgram) }

const programsPages = listPage("/programs", programs, {
  create: newProgram,
  around: () => Effect.succeed({ cells: { complained: (program) => <ComplaintRate {...program} /> } }),
})

const MAX_CAMPAIGNS = 50
const DAYS = 31

const programPage = definePage("/programs/:program", {
  run: Effect.fnUntraced(function* ({ program: id }, { now }) {
    const [program] = yield* (yield* ProgramReader).list({ programId: id }, 1)
    if (program === undefined) return yield* new ProgramNotFound({ programId: id })
    const { organizationId, status, senderName, postalAddress } = program
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const today = dateAt(now)
    const days = yield* readAll(digests, { organizationId, programId: id, from: addDays(today, 1 - DAYS), to: today })
    const campaigns = yield* (yield* CampaignReader).list({ organizationId, programId: id }, MAX_CAMPAIGNS)
    const all = yield* (yield* SenderRepository).list(organizationId)
    // The program's before the organization's. Unverified senders are skipped.
    const senders = [id, null].flatMap((owner) => all.filter(({ programId }) => programId === owner))
    const used = senders.find(({ liveSince }) => liveSince !== null)
    const waiting = senders.slice(0, used && senders.indexOf(used))
    const isArchived = status === "archived"
    const { funnel, learnerReachedAt, completerReachedAt } = days.at(-1)!
    const stages = funnel.cumulative
    return (
      <Page
        title={<ForeignText>{program.name}</ForeignText>}
        state={<StatusBadge tone={PROGRAM_TONES[status]}>{status}</StatusBadge>}
        id={id}
        commands={[
          ["programs list", { organization: organizationId }],
          ["programs update", id, { status: isArchived ? "active" : "paused" }],
          !isArchived && ["programs archive", id],
          ["campaigns list", { program: id }],
          ["digests list", { organization: organizationId, program: id, from: days[0]!.date, to: days.at(-1)!.date }],
        ]}
      >
        {isArchived && <p class="problem">The program is archived. You can't create or schedule campaigns.</p>}
        {(senderName === null || postalAddress === null) && (
          <p class="problem">The sender name or postal address is missing. Add both before you create a campaign.</p>
        )}
        {!isArchived && <ActionForm {...newCampaign} hidden={{ program: id }} isPrimary />}
        <div class="halves">
          <Section title="Facts">
            <Facts
              facts={{
                Organization: organization,
                Slug: <Code>{program.slug}</Code>,
                "Sender name": senderName ?? "none",
                "Postal address": postalAddress ?? "none",
                Sender: used === undefined ? "the deployment’s sender" : senderLink(used),
                "Unverified senders": waiting.length > 0 && <Items of={waiting.map(senderLink)} />,
                Sent: program.sent,
                ...feedbackFacts(program),
                Added: { at: program.createdAt },
              }}
            />
          </Section>
          <Section title="Targets">
            <Facts
              facts={{
                Learners: describeQuota(program.learnerTarget, stages.learner_qualified, learnerReachedAt),
                Completers: describeQuota(program.completerTarget, stages.completer_qualified, completerReachedAt),
              }}
            />
            <LinkLine to={`/suppressions?organization=${organizationId}&program=${id}`}>Suppressed clinicians</LinkLine>
          </Section>
        </div>
        <ListTable
          title="Campaigns"
          caption="Campaigns, newest first. Suspected bots are counted separately."
          list={campaignList}
          rows={campaigns.map(toCampaignRow)}
          cells={campaignCells}
          empty="No campaigns yet."
        />
        {campaigns.length === MAX_CAMPAIGNS && (
          <LinkLine to={`/campaigns?program=${id}`}>All campaigns of the program</LinkLine>
        )}
        <Funnel
          title="Clinicians by stage"
          steps={[
            { label: "accounts", count: stages.account_created },
            { label: "learners", count: stages.learner_qualified, ...noteOf(program.learnerTarget) },
            { label: "completers", count: stages.completer_qualified, ...noteOf(program.completerTarget) },
          ]}
          empty="No accounts yet."
        />
        <ListTable title={`Last ${DAYS} days (UTC)`} list={digests} rows={days.toReversed()} />
        <ActionForm
          title="Change"
          action={updateAction}
          params={{ program: id }}
          found={program}
          {...(isArchived && { controls: { status: { all: "archived" } } })}
        />
        {senders.every(({ programId }) => programId === null) && (
          <ActionForm {...newSender} hidden={{ organization: organizationId, program: id }} />
        )}
        {!isArchived && (
          <ActionForm title="Archive" action={archiveAction} params={{ program: id }}>
            <p>You can't create or schedule campaigns of an archived program. Set its status to active to undo this.</p>
          </ActionForm>
        )}
      </Page>
    )
  }),
})

const describeQuota = (...status: Parameters<typeof quotaStatus>) => {
  const { target, count, remaining, reached_at: reachedAt } = quotaStatus(...status)
  if (target === null) return `${formatCount(count)}, without a target`
  const progress = `${formatCount(count)} of ${formatCount(target)}, ${formatCount(remaining ?? 0)} remaining`
  if (reachedAt === null) return progress
  return (
    <>
      {progress}, reached <Time at={reachedAt} />
    </>
  )
}

const noteOf = (target: number | null) => (target === null ? {} : { note: `target ${formatCount(target)}` })

const updateAction = operationAction("/programs/:program/update", updateProgram)
const archiveAction = operationAction("/programs/:program/archive", archiveProgram)

export const programRoutes = [
  ...[...programsPages, newProgram.action],
  ...[programPage, updateAction, archiveAction],
] as const
