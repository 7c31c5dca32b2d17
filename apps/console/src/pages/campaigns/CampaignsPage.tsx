import { CampaignReader, type CampaignWithTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { choice, field } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect, Schema } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Noted, useView } from "../../components/values.tsx"
import { organizationFilter, pageOf, pickDefined } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { CampaignStatusBadge } from "./CampaignReports.tsx"
import { ComplaintRate } from "./ComplaintRate.tsx"
import { newCampaignPage } from "./newCampaignPage.tsx"
import { SendingWindow } from "./SendingWindow.tsx"

const PAGE_SIZE = 50

const filters = {
  organization: organizationFilter,
  program: field(ProgramId, "Program", { kind: "choice", all: "All" }),
  status: choice("Status", CAMPAIGN_STATUSES, { all: "All" }),
  kind: choice("Kind", ["traffic", "survey"], { all: "All" }),
  text: field(Schema.String, "Name contains", { size: 16 }),
}

export const campaignsPage = definePage("/campaigns", {
  inputs: { ...filters, before: CampaignId },
  run: Effect.fnUntraced(function* ({ before, ...given }) {
    const { organization: organizationId, program: programId, ...others } = given
    const filter = pickDefined({ organizationId, programId, ...others, before })
    const { rows, last } = pageOf(yield* (yield* CampaignReader).list(filter, PAGE_SIZE + 1), PAGE_SIZE)
    return (
      <Page title="Campaigns" commands={[ops("campaigns list", given)]}>
        <ConfirmLink page={newCampaignPage} query={{ program: programId }} label="Create a campaign" isPrimary />
        <FilterBar
          inputs={filters}
          values={given}
          controls={{
            organization: { options: yield* (yield* OrganizationReader).list },
            program: { options: yield* (yield* ProgramRepository).list(organizationId) },
          }}
        />
        <CampaignTable
          caption="Campaigns, newest first. Suspected bots are counted separately."
          rows={rows}
          empty="No campaign matches. Clear the filters or create a campaign."
        />
        <Pager next={last && { before: last.id }} />
      </Page>
    )
  }),
})

/** Campaigns with their counts. */
export const CampaignTable = (props: {
  readonly title?: string
  readonly caption: string
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly empty: string
}) => {
  const { operator } = useView()
  return (
    <Table
      {...props}
      columns={{
        Campaign: ({ id, name, kind }) => (
          <>
            <IdLink id={id}>{name}</IdLink>
            {kind === "survey" && <small> survey</small>}
          </>
        ),
        Program: ({ programId, programName, organizationName }) => (
          <Noted note={operator.organizationId === null ? organizationName : ""}>
            <IdLink id={programId}>{programName}</IdLink>
          </Noted>
        ),
        Status: ({ status }) => <CampaignStatusBadge status={status} />,
        Window: (row) => <SendingWindow {...row} />,
        Imported: { count: ({ totals }) => totals.recipients },
        Published: { count: ({ totals }) => totals.published },
        Sent: { count: ({ totals }) => totals.sent },
        Bounced: { count: ({ totals }) => totals.bounced },
        Opened: { number: ({ totals }) => withBots(totals.unsuspectedOpened, totals.opened) },
        Clicked: { number: ({ totals }) => withBots(totals.unsuspectedClicked, totals.clicked) },
        Complained: { number: ({ totals }) => <ComplaintRate {...totals} /> },
        Rate: {
          number: ({ perMinute }) => (perMinute === null ? "–" : `${formatCount(perMinute)} a minute`),
        },
      }}
    />
  )
}

const withBots = (unsuspected: number, all: number) => (
  <Noted note={all === unsuspected ? "" : `${formatCount(all)} with bots`}>{formatCount(unsuspected)}</Noted>
)
