import type {
  BouncedDomain,
  Grouping,
  NumberName,
  NumbersFilter,
  NumbersGroup,
  NumbersTotals,
} from "@outreach/backoffice/numbers/NumbersReader"
import type { CampaignId } from "@outreach/domain/Identifier"
import { type Change, describeChange } from "@outreach/domain/numbers/describeChange"
import type { PeriodName } from "@outreach/domain/numbers/Period"
import type { ComponentChildren } from "preact"
import { formatCount, formatShare } from "../../components/format.ts"
import { type Column, Table, withQuery } from "../../components/layout.tsx"
import { IdLink, Noted, Time } from "../../components/values.tsx"

const recipientsOf = (id: string, outcome: string) => `/campaigns/${id}/recipients?outcome=${outcome}`

const EVENTS = "/events?type=outreach."
const APPLIED = "/inbox?state=applied&type=clinician."

/** What each number is called, the list of a campaign's recipients that it leads to, and that of a period. */
export const NUMBERS = {
  published: ["Published", "published", `${EVENTS}recipients_published`],
  sent: ["Sent", "sent", `${EVENTS}email_sent`],
  bounced: ["Bounced", "bounced", `${EVENTS}email_bounced`],
  unsuspectedOpened: ["Opened", "opened", `${EVENTS}email_opened`],
  opened: ["Opened, with suspected bots", "opened_with_bots", `${EVENTS}email_opened`],
  unsuspectedClicked: ["Clicked", "clicked", `${EVENTS}email_clicked`],
  clicked: ["Clicked, with suspected bots", "clicked_with_bots", `${EVENTS}email_clicked`],
  accounts: ["Accounts", "account_created", `${APPLIED}account_created`],
  learners: ["Learners", "learner_qualified", `${APPLIED}learner_qualified`],
  completers: ["Completers", "completer_qualified", `${APPLIED}completer_qualified`],
  complained: ["Complaints", "complained", "/suppressions?reason=complained"],
  unsubscribed: ["Unsubscribed", "unsubscribed", "/suppressions?reason=unsubscribed"],
} as const satisfies Readonly<Record<NumberName, readonly [title: string, outcome: string, list: string]>>

const SHOWN = Object.keys(NUMBERS) as ReadonlyArray<NumberName>
/** The numbers that stand in brackets behind others, because columns of their own would make the table too wide. */
const WITH_BOTS: Partial<Record<NumberName, NumberName>> = {
  unsuspectedOpened: "opened",
  unsuspectedClicked: "clicked",
}

const REASONS = {
  mailboxNotFound: "no such mailbox",
  mailboxDisabled: "mailbox disabled",
  domainNotFound: "no such domain",
  addressInvalid: "address not valid",
  other: "another reason",
} as const satisfies Partial<Record<keyof BouncedDomain, string>>

interface Scope extends NumbersFilter {
  readonly campaignId?: CampaignId | null
}

/** A number of a period with the way to its list. The log of events has no programs, so that a program's number leads to its campaigns first. */
const NumberLink = (props: {
  readonly of: NumberName
  readonly count: number
  readonly period: PeriodName
  readonly periods: NumbersTotals["periods"]
  readonly scope: Scope
}) => {
  const { count, period } = props
  if (count === 0) return <>0</>
  const [, outcome, list] = NUMBERS[props.of]
  const { campaignId, programId, organizationId } = props.scope
  const { from, to } = props.periods[period]
  const address =
    typeof campaignId === "string"
      ? recipientsOf(campaignId, outcome)
      : programId !== undefined && list.startsWith("/events")
        ? withQuery("/numbers", { organization: organizationId, program: programId, by: "campaign", period })
        : withQuery(list, {
            from,
            to,
            organization: organizationId,
            ...(list.startsWith("/supp") && { program: programId }),
          })
  return <a href={address}>{formatCount(count)}</a>
}

const SIGNS: Readonly<Record<Change["direction"], string>> = { up: "▲", down: "▼", none: "" }

export const Difference = (props: { readonly count: number; readonly before: number }) => {
  const { direction, text } = describeChange(props.count, props.before)
  return (
    <>
      <span aria-hidden="true">{SIGNS[direction]}</span> {text}
    </>
  )
}

/** The numbers of a day or a week beside those of the one before. */
export const ComparisonTable = (props: {
  readonly title: string
  readonly periods: readonly [soFar: PeriodName, byHour: PeriodName, beforeByHour: PeriodName, before: PeriodName]
  readonly headers: readonly [soFar: string, change: string, byHour: string, beforeByHour: string, before: string]
  readonly numbers: NumbersTotals
  readonly scope: Scope
}) => {
  const { numbers, scope, headers } = props
  const [soFar, byHour, beforeByHour, before] = props.periods
  const of = (period: PeriodName): Column<NumberName> => ({
    number: (name) => (
      <NumberLink
        of={name}
        count={numbers.totals[period][name]}
        period={period}
        periods={numbers.periods}
        scope={scope}
      />
    ),
  })
  return (
    <Table
      title={props.title}
      rows={SHOWN}
      columns={{
        Number: (name) => NUMBERS[name][0],
        [headers[0]]: of(soFar),
        [headers[1]]: {
          number: (name) => (
            <Difference count={numbers.totals[byHour][name]} before={numbers.totals[beforeByHour][name]} />
          ),
        },
        [headers[2]]: of(byHour),
        [headers[3]]: of(beforeByHour),
        [headers[4]]: of(before),
      }}
    />
  )
}

/** The numbers of a period by organization, program or campaign. */
export const GroupTable = (props: {
  readonly title: string
  readonly grouping: Grouping
  readonly period: PeriodName
  readonly groups: ReadonlyArray<NumbersGroup>
  readonly periods: NumbersTotals["periods"]
}) => {
  const { grouping, period, periods } = props
  const scopeOf = ({ organizationId, programId, campaignId }: NumbersGroup): Scope => ({
    organizationId: organizationId ?? undefined,
    programId: programId ?? undefined,
    campaignId,
  })
  return (
    <Table
      label={props.title}
      rows={props.groups}
      empty="Nothing was counted in this period. What is sent, opened or reported stands here within the second."
      columns={{
        [grouping === "organization" ? "Organization" : grouping === "program" ? "Program" : "Campaign"]: (group) => (
          <GroupName {...group} grouping={grouping} period={period} />
        ),
        ...Object.fromEntries(
          SHOWN.filter((name) => !Object.values(WITH_BOTS).includes(name)).map((name) => {
            const withBots = WITH_BOTS[name]
            const link = (of: NumberName, group: NumbersGroup) => (
              <NumberLink of={of} count={group[of]} period={period} periods={periods} scope={scopeOf(group)} />
            )
            const number = (group: NumbersGroup) => (
              <>
                {link(name, group)}
                {withBots !== undefined && <> ({link(withBots, group)})</>}
              </>
            )
            return [withBots === undefined ? NUMBERS[name][0] : `${NUMBERS[name][0]} (with bots)`, { number }]
          }),
        ),
      }}
    />
  )
}

/** The name of a group, which leads to what it is divided into. */
const GroupName = (
  group: NumbersGroup & { readonly grouping: Grouping; readonly period: PeriodName },
): ComponentChildren => {
  const { grouping, period, organizationId: organization, programId: program } = group
  if (grouping === "campaign") {
    return (
      <Noted note={`${group.program}, ${group.organization}`}>
        <IdLink id={group.campaignId!}>{group.campaign!}</IdLink>
      </Noted>
    )
  }
  const [name, by] = grouping === "organization" ? [group.organization!, "program"] : [group.program!, "campaign"]
  const address = withQuery("/numbers", { organization, period, by, ...(program !== null && { program }) })
  return (
    <Noted note={grouping === "program" ? group.organization! : ""}>
      <a href={address}>
        <bdi>{name}</bdi>
      </a>
    </Noted>
  )
}

/** The recipient domains at which most e-mails bounced, over all campaigns. */
export const DomainsTable = (props: { readonly domains: ReadonlyArray<BouncedDomain> }) => (
  <Table
    label="Domains with the most bounces"
    rows={props.domains}
    empty="No e-mail has bounced. The domains whose servers refuse addresses stand here, with their replies."
    columns={{
      Domain: ({ domain }) => domain,
      Bounced: {
        number: ({ bounced, campaignId }) => <a href={recipientsOf(campaignId, "bounced")}>{formatCount(bounced)}</a>,
      },
      "Share of e-mails": { number: ({ bounced, sent }) => formatShare(bounced / (bounced + sent)) },
      Why: (domain) =>
        Object.entries(REASONS)
          .flatMap(([reason, words]) => {
            const count = domain[reason as keyof typeof REASONS]
            return count > 0 ? [`${words}: ${formatCount(count)}`] : []
          })
          .join(", "),
      "Last replies of its servers": ({ replies, lastReplyAt }) =>
        replies.length === 0 ? (
          "–"
        ) : (
          <>
            {[...new Set(replies)].map((reply) => (
              <div key={reply}>
                <bdi>{reply}</bdi>
              </div>
            ))}
            <Time at={lastReplyAt} />
          </>
        ),
      "Most in campaign": ({ campaignId, campaign, campaigns }) => (
        <Noted note={campaigns > 1 ? `of ${formatCount(campaigns)} campaigns` : ""}>
          <IdLink id={campaignId}>{campaign}</IdLink>
        </Noted>
      ),
    }}
  />
)
