import { type ColumnMap, contentOf, formatMap } from "@outreach/backoffice/csv/ColumnMap"
import { formatCounted } from "@outreach/backoffice/format"
import { maskText } from "@outreach/backoffice/recipients/importFile"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Cause, Effect, Exit } from "effect"
import { ActionForm, Field } from "../../components/forms.tsx"
import { Facts, LinkLine, Live, Page, Section, Table } from "../../components/layout.tsx"
import { foreign, isolated } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { useView } from "../../view/View.ts"
import {
  describeLack,
  downloadRejects,
  importAction,
  ListId,
  messageOf,
  recognize,
  uploadList,
  wantedOf,
  wordsFor,
} from "./importActions.ts"
import { RejectedLines } from "./importsPage.tsx"
import { GONE, type PendingList, PendingLists, type Report } from "./PendingLists.ts"

const MAX_SAMPLES = 2

const newImportPage = definePage("/campaigns/:campaign/imports/new", {
  role: "operator",
  inputs: { list: ListId },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const list = id === undefined ? undefined : (yield* PendingLists).find(operator, campaignId, id)
    const params = { campaign: campaignId }
    const flags = { ...params, "ignore-columns": true, map: list?.check && formatMap([...list.check.map]) }
    return (
      <Page
        title={foreign`Import into ${campaign.name}`}
        commands={[
          ["recipients import", "list.csv", { ...flags, check: true }],
          ["recipients import", "list.csv", { ...flags, "skip-bad": true, rejects: "rejects.csv" }],
        ]}
      >
        {id !== undefined && list === undefined && <p class="problem">{GONE}</p>}
        {list === undefined ? (
          <>
            <p>
              The first line should contain the column names <code>npi</code> and <code>email</code>. You can assign
              other columns on the next page and check a preview before the import. The file may have up to 50 MiB.
            </p>
            <ActionForm action={uploadList} params={params} label="Upload and check" hidden={{ check: "yes" }} />
          </>
        ) : (
          <SentList list={list} campaign={campaign} />
        )}
        <LinkLine to={`/campaigns/${campaignId}/imports`}>All imports into this campaign</LinkLine>
      </Page>
    )
  }),
})

const SentList = ({ list, campaign }: { readonly list: PendingList; readonly campaign: Campaign }) => {
  const { check } = list
  const map = check?.map ?? recognize(list, campaign)
  const outcome = check?.fiber.pollUnsafe()
  const isRunning = check !== undefined && outcome === undefined
  return (
    <>
      <Facts facts={{ File: list.name, Format: list.readAs, "Stored until": { at: fromUnixMillis(list.until) } }} />
      <Live id="check" seconds={isRunning ? 2 : undefined}>
        {check === undefined && <p class="problem">{describeLack(map, campaign)}</p>}
        {isRunning && <p role="status">The lines are being checked. Reload the page if it doesn't change.</p>}
        {outcome !== undefined &&
          (Exit.isSuccess(outcome) ? (
            <CheckedList list={list} map={map} report={outcome.value} />
          ) : (
            <p class="problem">{failureOf(outcome.cause)}</p>
          ))}
      </Live>
      <Section title="Columns">
        <ActionForm
          action={importAction}
          params={{ campaign: campaign.id }}
          label="Check again"
          hidden={{ list: list.id, check: "yes", "skip-bad": "yes" }}
          controls={{ map: false }}
        >
          <ColumnChoices list={list} campaign={campaign} map={map} />
        </ActionForm>
      </Section>
    </>
  )
}

const failureOf = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined ? "The check failed unexpectedly. Check again." : messageOf(error)
}

/** The content and first values of each column. */
const ColumnChoices = (props: { readonly list: PendingList; readonly campaign: Campaign; readonly map: ColumnMap }) => {
  const entered = useView().rejected?.values.getAll("map")
  return (
    <>
      {props.list.columns.map(({ title, name, cells }, i) => {
        const column = `column ${i + 1}`
        const content = props.map.get(column)
        const chosen = entered?.[i] ?? (content === undefined ? "" : formatMap([[column, content]]))
        const samples = cells.filter((cell) => cell !== "").slice(0, MAX_SAMPLES)
        const contents = new Set([...wantedOf(props.campaign), contentOf(name) ?? "npi"])
        return (
          <Field
            key={i}
            name="map"
            kind="choice"
            label={isolated(title)}
            all="Leave out"
            options={[...contents].map((each) => [formatMap([[column, each]]), wordsFor(each)])}
            value={chosen}
            hint={samples.length === 0 ? "No sample values" : isolated(samples.map(maskText).join("; "))}
          />
        )
      })}
    </>
  )
}

const CheckedList = (props: { readonly list: PendingList; readonly map: ColumnMap; readonly report: Report }) => {
  const { list, map, report } = props
  const { wouldImport: imported = 0, alreadyThere, suppressed, repeated, badCount, badLines, first = [] } = report
  const names = [...new Set(first.flatMap(({ fields }) => Object.keys(fields)))]
  const params = { campaign: list.campaignId }
  return (
    <Section title="Import preview">
      <Facts
        facts={{
          "New recipients": imported,
          Existing: alreadyThere,
          "Suppressed, skipped": suppressed,
          "Duplicates, skipped": repeated,
          "Rejected, skipped": badCount,
        }}
      />
      {imported + alreadyThere > 0 ? (
        <ActionForm
          action={importAction}
          params={params}
          label={imported > 0 ? `Import ${formatCounted(imported, "recipient")}` : "Import again"}
          hidden={{ list: list.id, map: formatMap([...map]), "skip-bad": "yes" }}
          controls={{ check: false }}
        />
      ) : (
        <p class="empty">No lines to import.</p>
      )}
      <RejectedLines rejects={badLines} />
      {badCount > 0 && (
        <ActionForm
          action={downloadRejects}
          params={params}
          label="Download the rejected lines"
          hidden={{ list: list.id, check: "yes", rejects: "rejects.csv" }}
        />
      )}
      <Table
        title="First lines"
        rows={first}
        columns={{
          Line: { number: ({ line }) => line },
          NPI: ({ npi }) => npi ?? "–",
          "E-mail": ({ email }) => email ?? "–",
          ...Object.fromEntries(
            names.map((name) => [name, ({ fields }: (typeof first)[number]) => fields[name] ?? "–"]),
          ),
          Error: ({ fault }) => fault ?? "–",
        }}
      />
    </Section>
  )
}

export const newImportRoutes = [newImportPage, uploadList, importAction, downloadRejects] as const
