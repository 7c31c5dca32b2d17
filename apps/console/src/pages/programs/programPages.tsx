import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { DigestReader } from "@outreach/backoffice/digest/DigestReader"
import { formatCount } from "@outreach/backoffice/format"
import { digests } from "@outreach/backoffice/lists/digests"
import { readAll } from "@outreach/backoffice/lists/List"
import { PROGRAM_TONES, programs } from "@outreach/backoffice/lists/programs"
import { archiveProgram, updateProgram } from "@outreach/backoffice/operations/programs"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import type { ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import { formatFrom, type Sender } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { Funnel } from "../../components/Funnel.tsx"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Page, Section } from "../../components/layout.tsx"
import { Code, ForeignText, StatusBadge, Time } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { ComplaintRate, feedbackFacts } from "../campaigns/ComplaintRate.tsx"
import { CampaignTable } from "../campaigns/campaignsPages.tsx"
import { newCampaignPage, newProgramPage, newSenderPage } from "../newPages.tsx"

const programsPages = listPage("/programs", programs, {
  cells: { complained: (program) => <ComplaintRate {...program} /> },
  around: ({ filter: { organizationId: organization } }) => ({
    above: <ConfirmLink page={newProgramPage} query={{ organization }} label="Add a program" isPrimary />,
  }),
})

const MAX_CAMPAIGNS = 50
const DAYS = 31

const programPage = definePage("/programs/:program", {
  run: ({ program }, { now }) => Effect.map(readProgram(program, now), contentOf),
})

const readProgram = Effect.fnUntraced(function* (programId: ProgramId, now: number) {
  const [program] = yield* (yield* ProgramReader).list({ programId }, 1)
  if (program === undefined) return yield* new ProgramNotFound({ programId })
  const { organizationId } = program
  const today = dateAt(now)
  const senders = yield* (yield* SenderRepository).list(organizationId)
  return {
    program,
    organization: yield* (yield* OrganizationReader).find(organizationId),
    /** The program's before the organization's. */
    senders: [programId, null].flatMap((owner) => senders.filter((sender) => sender.programId === owner)),
    quotas: yield* (yield* DigestReader).quotas(organizationId, programId),
    days: yield* readAll(digests, { organizationId, programId, from: addDays(today, 1 - DAYS), to: today }),
    campaigns: yield* (yield* CampaignReader).list({ organizationId, programId }, MAX_CAMPAIGNS),
  }
})

type ProgramView = Effect.Success<ReturnType<typeof readProgram>>

const contentOf = (view: ProgramView) => {
  const { program, senders, campaigns, days } = view
  const { id, organizationId, status, senderName, postalAddress } = program
  const isArchived = status === "archived"
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
      {!isArchived && (
        <ConfirmLink page={newCampaignPage} query={{ program: id }} label="Create a campaign" isPrimary />
      )}
      <div class="halves">
        <Section title="Facts">
          <ProgramFacts {...view} />
        </Section>
        <Section title="Targets">
          <Targets {...view} />
          <LinkLine to={`/suppressions?organization=${organizationId}&program=${id}`}>Suppressed clinicians</LinkLine>
        </Section>
      </div>
      <CampaignTable
        title="Campaigns"
        caption="Campaigns, newest first. Suspected bots are counted separately."
        rows={campaigns}
        empty="No campaigns yet."
      />
      {campaigns.length === MAX_CAMPAIGNS && (
        <LinkLine to={`/campaigns?program=${id}`}>All campaigns of the program</LinkLine>
      )}
      <FunnelOf {...view} />
      <ListTable title={`Last ${DAYS} days (UTC)`} list={digests} rows={days.toReversed()} />
      <ActionForm
        title="Change"
        action={updateAction}
        params={{ program: id }}
        found={program}
        {...(isArchived && { controls: { status: { all: "archived" } } })}
      />
      {senders.every(({ programId }) => programId === null) && (
        <ConfirmLink page={newSenderPage} query={{ organization: organizationId, program: id }} label="Add a sender" />
      )}
      {!isArchived && (
        <ActionForm title="Archive" action={archiveAction} params={{ program: id }}>
          <p>You can't create or schedule campaigns of an archived program. Set its status to active to undo this.</p>
        </ActionForm>
      )}
    </Page>
  )
}

const ProgramFacts = ({ program, organization, senders }: ProgramView) => {
  const isLive = ({ liveSince }: Sender) => liveSince !== null
  // Unverified senders are skipped.
  const used = senders.find(isLive)
  const waiting = senders.slice(0, used && senders.indexOf(used))
  const linkTo = (sender: Sender) => ({ id: sender.id, name: formatFrom(sender) })
  return (
    <Facts
      facts={{
        Organization: organization,
        Slug: <Code>{program.slug}</Code>,
        "Sender name": program.senderName ?? "none",
        "Postal address": program.postalAddress ?? "none",
        Sender: used === undefined ? "the deployment’s sender" : linkTo(used),
        "Unverified senders": waiting.length > 0 && <Items of={waiting.map(linkTo)} />,
        Sent: program.sent,
        ...feedbackFacts(program),
        Added: { at: program.createdAt },
      }}
    />
  )
}

const Targets = ({ quotas }: ProgramView) => {
  if (quotas === undefined) return null
  const describe = ({ target, count, remaining, reached_at: reachedAt }: typeof quotas.learner_qualified) => {
    if (target === null) return `${formatCount(count)}, without a target`
    const progress = `${formatCount(count)} of ${formatCount(target)}, ${formatCount(remaining ?? 0)} remaining`
    if (reachedAt === null) return progress
    return (
      <>
        {progress}, reached <Time at={reachedAt} />
      </>
    )
  }
  return (
    <Facts facts={{ Learners: describe(quotas.learner_qualified), Completers: describe(quotas.completer_qualified) }} />
  )
}

const FunnelOf = ({ program, days }: ProgramView) => {
  const { account_created, learner_qualified, completer_qualified } = days.at(-1)!.funnel.cumulative
  const noteOf = (target: number | null) => (target === null ? {} : { note: `target ${formatCount(target)}` })
  return (
    <Funnel
      title="Clinicians by stage"
      steps={[
        { label: "accounts", count: account_created },
        { label: "learners", count: learner_qualified, ...noteOf(program.learnerTarget) },
        { label: "completers", count: completer_qualified, ...noteOf(program.completerTarget) },
      ]}
      empty="No accounts yet."
    />
  )
}

const updateAction = operationAction("/programs/:program/update", updateProgram)
const archiveAction = operationAction("/programs/:program/archive", archiveProgram)

export const programRoutes = [...programsPages, programPage, updateAction, archiveAction] as const
