import { type ColumnMap, contentOf, formatMap } from "@outreach/backoffice/csv/ColumnMap"
import { formatCounted } from "@outreach/backoffice/format"
import { oneOf, required } from "@outreach/backoffice/operations/Field"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { maskText } from "@outreach/backoffice/recipients/importFile"
import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { findInStatus } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import { Cause, Effect, Exit, FileSystem, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { ActionForm, Field } from "../../components/forms.tsx"
import { Facts, LinkLine, Live, Page, Section, Table } from "../../components/layout.tsx"
import { foreign, isolated } from "../../components/values.tsx"
import { PageError, reject } from "../../http/PageError.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { useView } from "../../view/View.ts"
import { RejectedLines } from "./importsPage.tsx"
import { checkList, GONE, importList, type PendingList, PendingLists, type Report } from "./PendingLists.ts"

const { input } = importRecipients

const ListId = textSchema("the id of an uploaded list", (text) => (/^[0-9a-f-]{36}$/.test(text) ? text : undefined))
const list = required(ListId)

/** The required columns of a list. */
const wantedOf = ({ fields }: Campaign): ReadonlyArray<string> => [...new Set(["npi", "email", ...fields])]

/** Returns the required columns that a list names. The first of several columns with a name counts. */
const recognize = ({ columns }: PendingList, campaign: Campaign): ColumnMap =>
  new Map(
    wantedOf(campaign).flatMap((content) => {
      const i = columns.findIndex(({ name }) => contentOf(name) === content)
      return i === -1 ? [] : [[`column ${i + 1}`, content] as const]
    }),
  )

const wordsFor = (content: string): string =>
  content === "npi" ? "NPI" : content === "email" ? "e-mail address" : content

/** Describes the required columns that a map lacks; undefined if it lacks none. */
const describeLack = (map: ColumnMap, campaign: Campaign): string | undefined => {
  const missing = wantedOf(campaign).filter((content) => ![...map.values()].includes(content))
  return missing.length === 0 ? undefined : `Choose a column for: ${missing.map(wordsFor).join(", ")}.`
}

const addressOf = ({ campaignId, id }: PendingList): string => `/campaigns/${campaignId}/imports/new?list=${id}`

/** The fault of a file, without its path in the console. */
const messageOf = (error: { readonly message: string }): string =>
  "file" in error && "reason" in error ? `The file can't be imported: ${error.reason}.` : error.message

const uploadList = defineAction("/campaigns/:campaign/imports/upload", importRecipients, {
  inputs: { check: input.check, file: input.file },
  faults: { UnusableFile: "file" },
  run: Effect.fnUntraced(function* ({ campaign: campaignId }, { operator, file }) {
    if (file === undefined) return yield* reject("NoFile", "The form contains no file. Choose one.")
    const campaign = yield* findInStatus(campaignId, IMPORTABLE)
    const { hold } = yield* PendingLists
    const list = yield* Effect.mapError(hold(operator, campaignId, file), (error) =>
      error instanceof PageError ? error : { _tag: error._tag, message: messageOf(error) },
    )
    const map = recognize(list, campaign)
    if (describeLack(map, campaign) === undefined) yield* checkList(list, map, operator)
    return { to: addressOf(list), notice: "Uploaded, not imported yet. Check the preview." }
  }),
})

const findList = Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, id: string) {
  return (yield* PendingLists).find(operator, campaignId, id) ?? (yield* reject("ListGone", GONE))
})

/** Imports a list, or checks it with other contents of its columns. */
const importAction = defineAction("/campaigns/:campaign/imports/import", importRecipients, {
  inputs: { list, map: required(input.map), check: input.check, "skip-bad": input.skipBad },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id, map, check }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    const campaign = yield* findInStatus(campaignId, IMPORTABLE)
    const lack = describeLack(map, campaign)
    if (lack !== undefined) return yield* reject("UnclearColumns", lack)
    if (check) {
      yield* checkList(list, map, operator)
      return { to: addressOf(list), notice: "Checked again, not imported yet." }
    }
    const importId = yield* importList(list, map, operator)
    if (importId === undefined) {
      const notice = "Other imports are running. This one starts after them and then appears here."
      return { to: `/campaigns/${campaignId}/imports`, notice }
    }
    return { to: `/imports/${importId}`, notice: "The import was started. You can leave this page." }
  }),
})

const downloadRejects = defineAction("/campaigns/:campaign/imports/rejects", importRecipients, {
  isRepeatable: true,
  inputs: { list, check: input.check, rejects: oneOf(["rejects.csv"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const { check } = yield* findList(operator, campaignId, id)
    const files = yield* FileSystem.FileSystem
    if (check?.fiber.pollUnsafe() === undefined)
      return yield* reject("NotChecked", "The check is still running. Try again later.")
    return HttpServerResponse.stream(Stream.orDie(files.stream(check.rejects)), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": `attachment; filename="rejects.csv"` },
    })
  }),
})

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
