import { explainUnsent } from "@outreach/backoffice/campaigns/explainUnsent"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { formatCount, formatCounted, formatDuration, formatShare } from "@outreach/backoffice/format"
import { type Numbers, NumbersReader } from "@outreach/backoffice/numbers/NumbersReader"
import type { Tone } from "@outreach/backoffice/operations/List"
import { type Today, TodayReader } from "@outreach/backoffice/today/TodayReader"
import { dateAt } from "@outreach/domain/digest/Digest"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Advice, FINDING_TONES } from "../../components/Findings.tsx"
import { FormLink, formOf } from "../../components/FormLink.tsx"
import { LinkLine, Page, Section, Table } from "../../components/layout.tsx"
import { Minute, Prose, StatusBadge } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { CampaignProgressBar } from "../campaigns/CampaignReports.tsx"
import { readUrgent } from "./readUrgent.ts"

const MAX_CAMPAIGNS = 20

export const todayPage = definePage("/", {
  run: Effect.fnUntraced(function* (_, { operator, now }) {
    const scope = operator.organizationId
    const date = dateAt(now)
    const filter = { organizationId: scope ?? undefined }
    const [today, numbers, campaigns] = yield* Effect.all(
      [
        TodayReader.use(({ read }) => read(scope)),
        NumbersReader.use(({ total }) => total(filter, { from: date, to: date })),
        SendingReader.use(({ listOpen }) => listOpen(scope, MAX_CAMPAIGNS)),
      ],
      { concurrency: "unbounded" },
    )
    const urgent = yield* readUrgent(scope, campaigns, now)
    const sending = campaigns.flatMap((campaign) => {
      const cause = explainUnsent(campaign, now)
      return cause === null || cause.status === "ok" ? [{ ...campaign, state: cause?.found }] : []
    })
    return (
      <Page title="Today" commands={[["status"], ["status", { watch: true }]]}>
        <p>
          <small>
            Read at <Minute at={fromUnixMillis(now)} />.
          </small>
        </p>
        {today.steps !== null && <FirstSteps steps={today.steps} />}
        <Section title="Urgent" id="urgent">
          <Table
            label="Problems, the most urgent first"
            rows={urgent}
            columns={{
              Problem: ({ found, page }) => (
                <a href={page}>
                  <Prose>{found}</Prose>
                </a>
              ),
              Urgency: ({ status }) => ({
                tone: FINDING_TONES[status],
                word: status === "failed" ? "critical" : status,
              }),
              Since: ({ since }) => since && { at: since },
              Action: (finding) => <Advice finding={finding} />,
            }}
          />
          {urgent.length === 0 && <p class="notice">Nothing needs your attention.</p>}
        </Section>
        <Section title="Numbers of today">
          <ul class="tiles">
            {[sendingTile(today), ...numberTiles(numbers), quotaTile(today)].map(
              ({ title, href, tone, value, detail }) => (
                <li key={title} class={`tile ${tone}`}>
                  <a href={href}>
                    <span class="title">{title}</span>
                    <span class="value">{value}</span>
                  </a>
                  <small>
                    <bdi>{detail}</bdi>
                  </small>
                </li>
              ),
            )}
          </ul>
        </Section>
        <Table
          title="Sending campaigns"
          rows={sending}
          columns={{
            Campaign: ({ id, name }) => ({ id, name }),
            Progress: (campaign) => <CampaignProgressBar progress={campaign.progress} campaign={campaign} />,
            State: ({ state = "Sending." }) => <Prose>{state}</Prose>,
          }}
        />
        {campaigns.length === MAX_CAMPAIGNS && (
          <LinkLine to="/campaigns?status=sending">All sending campaigns</LinkLine>
        )}
      </Page>
    )
  }),
})

/** The path from an empty database to the first campaign. */
const STEPS = {
  organization: "organizations create",
  key: "keys create",
  endpoint: "endpoints create",
  program: "programs create",
  sender: "senders create",
  campaign: "campaigns create",
} as const

/** The steps to the first campaign; the next one is a button. */
const FirstSteps = ({ steps }: { readonly steps: NonNullable<Today["steps"]> }) => {
  const isDone = (step: string) => step in steps && Boolean(steps[step as keyof typeof steps])
  const [next] = Object.keys(STEPS).filter((step) => !isDone(step))
  return (
    <Section title="Steps to the first campaign" id="steps">
      <ol class="chips">
        {Object.entries(STEPS).map(([step, command]) => (
          <li key={step}>
            {isDone(step) ? (
              <>
                {formOf(command).label} <StatusBadge tone="good">done</StatusBadge>
              </>
            ) : (
              <FormLink command={command} object={steps.organization} isPrimary={step === next} />
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}

interface TodayTile {
  readonly title: string
  readonly href: string
  readonly tone: Tone
  readonly value: string
  readonly detail: string
}

const numberTiles = (numbers: Numbers): ReadonlyArray<TodayTile> => {
  const tile = (title: string, count: number, detail: string): TodayTile => ({
    ...{ title, detail, href: "/numbers", tone: "neutral", value: formatCount(count) },
  })
  const ofSent = (count: number) => `${formatShare(count / numbers.sent)} of sent`
  const { sent, bounced, unsuspectedOpened: opened, unsuspectedClicked: clicked, accounts, completers } = numbers
  return [
    tile("Sent", sent, "since midnight UTC"),
    tile("Bounced", bounced, ofSent(bounced)),
    tile("Opened", opened, `${ofSent(opened)}, without bots`),
    tile("Clicked", clicked, `${ofSent(clicked)}, without bots`),
    tile("Accounts", accounts, `${formatCounted(completers, "completer")}`),
  ]
}

const sendingTile = ({ sending: { campaigns, sentInLastMinute, remaining } }: Today): TodayTile => {
  const isStuck = sentInLastMinute === 0 && remaining !== 0
  const left = remaining === null ? "" : `, ${formatCount(remaining)} left`
  const isMoving = remaining !== null && remaining > 0 && sentInLastMinute > 0
  const time = isMoving ? `, about ${formatDuration((remaining / sentInLastMinute) * 60)}` : ""
  return {
    title: "Sending now",
    href: "/campaigns?status=sending",
    tone: campaigns === 0 ? "neutral" : isStuck ? "warning" : "good",
    value: campaigns === 0 && sentInLastMinute === 0 ? "None" : `${formatCount(sentInLastMinute)} per minute`,
    detail: campaigns === 0 ? "no active campaigns" : `${formatCounted(campaigns, "campaign")}${left}${time}`,
  }
}

const quotaTile = ({ quota }: Today): TodayTile => {
  const tile = { title: "Quota closest to target" }
  if (quota === null) return { ...tile, href: "/programs", tone: "neutral", value: "–", detail: "no targets" }
  const { programId, program, stage, count, target } = quota
  return {
    ...tile,
    href: `/programs/${programId}`,
    tone: count >= target ? "neutral" : "good",
    value: formatShare(count / target),
    detail: `${formatCount(count)} of ${formatCount(target)} ${stage}s of ${program}`,
  }
}
