import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import {
  CampaignReader,
  type CampaignTotals,
  type CampaignWithTotals,
} from "@outreach/postgres/campaigns/CampaignReader"
import { Effect, Schema } from "effect"
import { Choice, Field, FilterBar } from "../../components/Field.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Pager } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { useView } from "../../components/View.ts"
import { definePage } from "../../http/Route.ts"
import { CampaignStatusBadge } from "./CampaignStatusBadge.tsx"
import { WindowBar } from "./WindowBar.tsx"

const PAGE_SIZE = 50

/** The campaigns, newest first. */
export const campaignsPage = definePage({
  path: "/campaigns",
  section: "campaigns",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    program: ProgramId,
    status: Schema.Literals(CAMPAIGN_STATUSES).annotate({ expected: `one of ${CAMPAIGN_STATUSES.join(", ")}` }),
    kind: Schema.Literals(["traffic", "survey"]).annotate({ expected: "traffic or survey" }),
    text: Schema.String,
    before: CampaignId,
  },
  read: Effect.fnUntraced(function* ({ organization, program, status, kind, text, before }, { operator }) {
    const organizationId = operator.organizationId ?? organization
    const filter = {
      ...(organizationId && { organizationId }),
      ...(program && { programId: program }),
      ...(status && { status }),
      ...(kind && { kind }),
      ...(text && { text }),
      ...(before && { before }),
    }
    const rows = yield* (yield* CampaignReader).list(filter, PAGE_SIZE + 1)
    const flags = Object.entries({ organization: organizationId, program, status, kind }).flatMap(([name, value]) =>
      value === undefined ? [] : [` --${name} ${value}`],
    )
    return {
      title: "Campaigns",
      commands: [`ops campaigns list${flags.join("")}`],
      body: (
        <>
          <FilterBar action="/campaigns">
            {operator.organizationId === null && (
              <Field name="organization" label="Organization" value={organization} placeholder="org_…" size={20} />
            )}
            <Field name="program" label="Program" value={program} placeholder="pgm_…" size={20} />
            <Choice name="status" label="Status" value={status} options={choicesOf(CAMPAIGN_STATUSES)} />
            <Choice name="kind" label="Kind" value={kind} options={choicesOf(["traffic", "survey"])} />
            <Field name="text" label="Name contains" value={text} size={16} />
          </FilterBar>
          <CampaignTable rows={rows.slice(0, PAGE_SIZE)} hasOrganizations={operator.organizationId === null} />
          <More next={rows.length > PAGE_SIZE ? rows[PAGE_SIZE - 1]!.id : undefined} />
        </>
      ),
    }
  }),
})

const choicesOf = (values: ReadonlyArray<string>) => [
  ["", "any"] as const,
  ...values.map((value) => [value, value] as const),
]

const More = ({ next }: { readonly next: CampaignId | undefined }) => {
  const { address } = useView()
  return <Pager address={address} next={next === undefined ? undefined : { before: next }} />
}

const CampaignTable = (props: {
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly hasOrganizations: boolean
}) => (
  <Table
    caption="Campaigns, newest first. A window's bar spans four weeks, with a line for now; suspected bots count apart."
    rows={props.rows}
    empty="No campaign fits. A new one is made with ops campaigns create."
    columns={[
      {
        header: "Campaign",
        cell: ({ id, name, kind, followUpOf }) => (
          <>
            <IdLink id={id}>{name}</IdLink>
            {kind === "survey" && <small> survey</small>}
            {followUpOf !== null && <small> follow-up</small>}
          </>
        ),
      },
      {
        header: "Program",
        cell: ({ programName, organizationName }) => (
          <>
            <ForeignText>{programName}</ForeignText>
            {props.hasOrganizations && (
              <>
                <br />
                <small>
                  <ForeignText>{organizationName}</ForeignText>
                </small>
              </>
            )}
          </>
        ),
      },
      { header: "Status", cell: ({ status }) => <CampaignStatusBadge status={status} /> },
      { header: "Window (UTC)", cell: (row) => <WindowBar {...row} /> },
      count("Imported", ({ recipients }) => recipients),
      count("Published", ({ published }) => published),
      count("Sent", ({ sent }) => sent),
      count("Bounced", ({ bounced }) => bounced),
      withBots("Opened", ({ unsuspectedOpened, opened }) => [unsuspectedOpened, opened]),
      withBots("Clicked", ({ unsuspectedClicked, clicked }) => [unsuspectedClicked, clicked]),
      {
        header: "Rate",
        numeric: true,
        cell: ({ perMinute }) => (perMinute === null ? "no bound" : `${formatCount(perMinute)} a minute`),
      },
    ]}
  />
)

const count = (header: string, read: (totals: CampaignTotals) => number) => ({
  header,
  numeric: true,
  cell: ({ totals }: CampaignWithTotals) => (totals === null ? "being counted" : formatCount(read(totals))),
})

const withBots = (header: string, read: (totals: CampaignTotals) => readonly [unsuspected: number, all: number]) => ({
  header,
  numeric: true,
  cell: ({ totals }: CampaignWithTotals) => {
    if (totals === null) return "being counted"
    const [unsuspected, all] = read(totals)
    return (
      <>
        {formatCount(unsuspected)}
        <br />
        <small>{formatCount(all)} with bots</small>
      </>
    )
  },
})
