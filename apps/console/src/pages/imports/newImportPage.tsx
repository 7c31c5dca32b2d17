import { formatMap } from "@outreach/backoffice/csv/ColumnMap"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { maskText } from "@outreach/backoffice/recipients/importFile"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Cause, Effect, Exit, Result } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Facts, LinkLine, Live, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, foreign, isolated, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { useView } from "../../view/View.ts"
import {
  checkColumns,
  downloadRejects,
  GONE,
  importChecked,
  LEFT_OUT,
  ListId,
  lackOf,
  messageOf,
  missingIn,
  targetsOf,
  uploadList,
  wantedOf,
  wordsFor,
} from "./importActions.ts"
import type { ListCheck } from "./importJobs.ts"
import { type PendingList, PendingLists } from "./PendingLists.ts"
import { RejectedLines } from "./RejectedLines.tsx"

const MAX_SAMPLES = 2

/** Returns the columns of a list for a command. */
const mapFor = ({ columns }: PendingList, targets: ReadonlyArray<string>): string => {
  const renamed = columns.flatMap(({ title, name }, i) => {
    const target = targets[i]
    return !target || name.toLowerCase() === target ? [] : [[title, target] as const]
  })
  return formatMap(renamed)
}

const newImportPage = definePage("/campaigns/:campaign/imports/new", {
  role: "operator",
  inputs: { list: ListId },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const list = id === undefined ? undefined : (yield* PendingLists).find(operator, campaignId, id)
    const map = list?.check && mapFor(list, list.check.targets)
    const flags = { campaign: campaignId, "ignore-columns": true, map }
    return (
      <Page
        title={foreign`Import into ${campaign.name}`}
        commands={[
          ops("recipients import", "list.csv", { ...flags, check: true }),
          ops("recipients import", "list.csv", { ...flags, "skip-bad": true, rejects: "rejects.csv" }),
        ]}
      >
        {id !== undefined && list === undefined && <p class="problem">{GONE}</p>}
        {list === undefined ? (
          <>
            <p>
              The first line should contain the column names <code>npi</code> and <code>email</code>. You can assign
              other columns on the next page and check a preview before the import.
            </p>
            <ActionForm
              action={uploadList}
              params={{ campaign: campaignId }}
              label="Upload and check"
              hidden={{ check: "yes" }}
            />
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
  const targets = check?.targets ?? targetsOf(wantedOf(campaign), list.columns)
  const isRunning = check !== undefined && check.outcome === undefined
  return (
    <>
      <Facts
        facts={{
          File: list.name,
          Format: list.readAs,
          "Stored until": <Time at={fromUnixMillis(list.until)} />,
        }}
      />
      <Live id="check" seconds={isRunning ? 2 : undefined}>
        {check === undefined && <p class="problem">{lackOf(missingIn(targets, campaign))}</p>}
        {isRunning && <p role="status">The lines are being checked. Reload the page if it doesn't change.</p>}
        {check?.outcome !== undefined &&
          (Exit.isSuccess(check.outcome) ? (
            <CheckedList list={list} report={check.outcome.value} />
          ) : (
            <p class="problem">{failureOf(check.outcome.cause)}</p>
          ))}
      </Live>
      <Section title="Columns">
        <ActionForm
          action={checkColumns}
          params={{ campaign: campaign.id }}
          label="Check again"
          hidden={{ list: list.id, check: "yes" }}
        >
          <ColumnChoices list={list} campaign={campaign} targets={targets} />
        </ActionForm>
      </Section>
    </>
  )
}

const failureOf = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined ? "The check failed unexpectedly. Check again." : messageOf(error)
}

/** The target and first values of each column. */
const ColumnChoices = (props: {
  readonly list: PendingList
  readonly campaign: Campaign
  readonly targets: ReadonlyArray<string>
}) => {
  const typed = useView().rejected?.values.getAll("columns") ?? []
  return (
    <>
      {props.list.columns.map(({ title, name, cells }, i) => {
        const own = Result.getOrElse(fieldNameOf(name), () => "npi")
        const chosen = typed[i] ?? (props.targets[i] || LEFT_OUT)
        const samples = cells.filter((cell) => cell !== "").slice(0, MAX_SAMPLES)
        return (
          <label class="field" key={i}>
            <span>
              <ForeignText>{title}</ForeignText>
            </span>
            <select name="columns">
              {[...new Set([LEFT_OUT, ...wantedOf(props.campaign), own])].map((target) => (
                <option key={target} value={target} selected={target === chosen}>
                  {wordsFor(target)}
                </option>
              ))}
            </select>
            <small>{samples.length === 0 ? "No sample values" : isolated(samples.map(maskText).join("; "))}</small>
          </label>
        )
      })}
    </>
  )
}

type Report = NonNullable<ListCheck["outcome"]> extends Exit.Exit<infer A, unknown> ? A : never

const CheckedList = ({ list, report }: { readonly list: PendingList; readonly report: Report }) => {
  const { imported, alreadyThere, suppressed, repeated, badCount, badLines, first = [] } = report
  const names = [...new Set(first.flatMap(({ fields }) => Object.keys(fields)))]
  const params = { campaign: list.campaignId }
  return (
    <Section title="Import preview">
      <Facts
        facts={{
          "New recipients": formatCount(imported),
          Existing: formatCount(alreadyThere),
          "Suppressed, skipped": formatCount(suppressed),
          "Duplicates, skipped": formatCount(repeated),
          "Rejected, skipped": formatCount(badCount),
        }}
      />
      {imported + alreadyThere > 0 ? (
        <ActionForm
          action={importChecked}
          params={params}
          label={imported > 0 ? `Import ${formatCounted(imported, "recipient")}` : "Import again"}
          hidden={{ list: list.id, "skip-bad": "yes" }}
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
          Line: { count: ({ line }) => line },
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

export const newImportRoutes = [newImportPage, uploadList, checkColumns, importChecked, downloadRejects] as const
