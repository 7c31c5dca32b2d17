import { formatMap, likelyTargets } from "@outreach/backoffice/csv/ColumnMap"
import { maskText } from "@outreach/backoffice/recipients/importFile"
import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { PLACE_FIELDS } from "@outreach/domain/recipients/timeZonesOf"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import { Cause, Effect, Exit, FileSystem, Result, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { formatCount, formatCounted } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Live, Page, Section, Table } from "../../components/layout.tsx"
import { ForeignText, foreign, isolated, Time, useView } from "../../components/values.tsx"
import { file as fileInput, oneOf, required } from "../../http/inputs.ts"
import { PageError, refuse } from "../../http/PageError.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { type HeldList, HeldLists } from "./HeldLists.ts"
import { checkList, importList, type ListCheck } from "./importJobs.ts"
import { RejectedLines } from "./RejectedLines.tsx"

const MAX_SAMPLES = 2
/** A column that is left out. A form sends no empty values. */
const LEFT_OUT = "-"

const ListId = textSchema("the id of a list that the console holds", (text) =>
  /^[0-9a-f-]{36}$/.test(text) ? text : undefined,
)

const isTarget = (text: string) =>
  [LEFT_OUT, "npi", "email"].includes(text) || Result.getOrUndefined(fieldNameOf(text)) === text

const Targets = textSchema("what each column holds", (text): ReadonlyArray<string> | undefined => {
  const targets = text.split(",")
  return targets.every(isTarget) ? targets.map((target) => (target === LEFT_OUT ? "" : target)) : undefined
})

/** What a list must have a column for, and what it may have one for. */
const wantedOf = ({ fields, hours }: Pick<Campaign, "fields" | "hours">) => ({
  needed: ["npi", "email", ...fields],
  offered: [...new Set(["npi", "email", ...fields, ...(hours === null ? [] : PLACE_FIELDS)])],
})

const missingIn = (targets: ReadonlyArray<string>, campaign: Campaign): ReadonlyArray<string> =>
  wantedOf(campaign).needed.filter((target) => !targets.includes(target))

const WORDS: Readonly<Record<string, string>> = { npi: "NPI", email: "E-mail address", [LEFT_OUT]: "Leave out" }
const wordsFor = (target: string): string => WORDS[target] ?? target

const lackOf = (missing: ReadonlyArray<string>): string =>
  `Choose which column holds ${missing.map((target) => (target === "npi" ? "the NPI" : target === "email" ? "the e-mail address" : target)).join(", ")}.`

/** The flag of a command that takes the columns for the same. */
const mapFor = ({ columns }: HeldList, targets: ReadonlyArray<string>): string => {
  const renamed = columns.flatMap(({ title, name }, i) => {
    const target = targets[i]
    return !target || name.toLowerCase() === target ? [] : [[title, target] as const]
  })
  return renamed.length === 0 ? "" : ` ${formatMap(renamed)}`
}

const addressOf = ({ campaignId, id }: HeldList): string => `/campaigns/${campaignId}/imports/new?list=${id}`

/** What is wrong with a file, without the place where the console keeps it. */
const messageOf = (error: { readonly message: string }): string =>
  "file" in error && "reason" in error ? `The file cannot be imported: ${error.reason}.` : error.message

const uploadList = defineAction("/campaigns/:campaign/imports/upload", "recipients import", {
  role: "operator",
  inputs: {
    check: oneOf(["yes"]),
    file: required(
      fileInput("List", {
        accept: ".csv,.tsv,.txt,text/csv,text/plain",
        hint: "A text file with a line for each clinician: CSV UTF-8 as spreadsheets save it, or separated by semicolons or tabs. At most 50 MiB.",
      }),
    ),
  },
  faults: { UnusableFile: "file" },
  run: Effect.fnUntraced(function* ({ campaign: campaignId }, { operator, file }) {
    if (file === undefined) return yield* refuse("NoFile", "The form was sent without a file. Choose one.")
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const { status } = campaign
    if (!IMPORTABLE.includes(status)) {
      return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
    }
    const { hold } = yield* HeldLists
    const list = yield* Effect.mapError(hold(operator, campaignId, file), (error) =>
      error instanceof PageError ? error : { _tag: error._tag, message: messageOf(error) },
    )
    const targets = likelyTargets(wantedOf(campaign).offered, list.columns)
    if (missingIn(targets, campaign).length === 0) yield* checkList(list, targets, operator)
    return { to: addressOf(list), notice: "Received. Nothing is imported yet: look at how it is understood." }
  }),
})

const GONE =
  "The list is not here any more. The console process that received it holds it for 15 minutes, and not after a restart. Choose the file again."

const findList = Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, id: string) {
  return (yield* HeldLists).find(operator, campaignId, id) ?? (yield* refuse("ListGone", GONE))
})

const checkColumns = defineAction("/campaigns/:campaign/imports/check", "recipients import", {
  role: "operator",
  inputs: { list: required(ListId), check: oneOf(["yes"]), columns: required(Targets) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id, columns: targets }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const chosen = targets.filter((target) => target !== "")
    const twice = chosen.find((target, i) => chosen.indexOf(target) !== i)
    if (twice !== undefined) {
      return yield* refuse("UnclearColumns", `More than one column is chosen for ${wordsFor(twice)}. Choose one.`)
    }
    const missing = missingIn(targets, campaign)
    if (missing.length > 0 || targets.length !== list.columns.length)
      return yield* refuse("UnclearColumns", lackOf(missing))
    yield* checkList(list, targets, operator)
    return { to: addressOf(list), notice: "Checked again. Nothing is imported yet." }
  }),
})

const importChecked = defineAction("/campaigns/:campaign/imports/import", "recipients import", {
  role: "operator",
  inputs: { list: required(ListId), "skip-bad": oneOf(["yes"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    if (list.check === undefined) return yield* refuse("NotChecked", "Check the list first.")
    const importId = yield* importList(list, list.check, operator)
    if (importId === undefined) {
      const notice = "Other lists are being imported. The import of this one begins after them, and stands here then."
      return { to: `/campaigns/${campaignId}/imports`, notice }
    }
    return { to: `/imports/${importId}`, notice: "The import has begun, and goes on if you leave this page." }
  }),
})

const downloadRejects = defineAction("/campaigns/:campaign/imports/rejects", "recipients import", {
  role: "operator",
  isRepeatable: true,
  inputs: { list: required(ListId), check: oneOf(["yes"]), rejects: oneOf(["rejects.csv"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const { check } = yield* findList(operator, campaignId, id)
    const files = yield* FileSystem.FileSystem
    if (check?.outcome === undefined) return yield* refuse("NotChecked", "The check has not ended yet.")
    return HttpServerResponse.stream(Stream.orDie(files.stream(check.rejects)), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": `attachment; filename="rejects.csv"` },
    })
  }),
})

const newImportPage = definePage("/campaigns/:campaign/imports/new", {
  role: "operator",
  inputs: { list: ListId },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const list = id === undefined ? undefined : (yield* HeldLists).find(operator, campaignId, id)
    const map = list?.check === undefined ? "" : mapFor(list, list.check.targets)
    const command = `ops recipients import --campaign ${campaignId} list.csv --ignore-columns${map}`
    return (
      <Page
        title={foreign`Import into ${campaign.name}`}
        commands={[`${command} --check`, `${command} --skip-bad --rejects rejects.csv`]}
      >
        {id !== undefined && list === undefined && <p class="problem">{GONE}</p>}
        {list === undefined ? (
          <>
            <p>
              Its first line should name the columns <code>npi</code> and <code>email</code>; other names are recognised
              or chosen on the next page. Nothing is imported before you have seen how the list is understood.
            </p>
            <ActionForm
              action={uploadList}
              params={{ campaign: campaignId }}
              label="Send and check"
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

const SentList = ({ list, campaign }: { readonly list: HeldList; readonly campaign: Campaign }) => {
  const { check } = list
  const likely = check?.targets ?? likelyTargets(wantedOf(campaign).offered, list.columns)
  const isRunning = check !== undefined && check.outcome === undefined
  return (
    <>
      <Facts
        facts={{
          File: list.name,
          "Read as": list.readAs,
          "Held until": <Time at={fromUnixMillis(list.until)} />,
        }}
      />
      <Live id="check" seconds={isRunning ? 2 : undefined}>
        {check === undefined && <p class="problem">{lackOf(missingIn(likely, campaign))}</p>}
        {isRunning && <p role="status">Its lines are being checked. Reload the page if it does not change.</p>}
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
          <ColumnChoices list={list} campaign={campaign} targets={likely} />
        </ActionForm>
      </Section>
    </>
  )
}

const failureOf = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined ? "The check failed unexpectedly. Check again." : messageOf(error)
}

/** For each column what it holds, with its first values. */
const ColumnChoices = (props: {
  readonly list: HeldList
  readonly campaign: Campaign
  readonly targets: ReadonlyArray<string>
}) => {
  const typed = useView().refused?.values.getAll("columns") ?? []
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
              {[...new Set([LEFT_OUT, ...wantedOf(props.campaign).offered, own])].map((target) => (
                <option key={target} value={target} selected={target === chosen}>
                  {wordsFor(target)}
                </option>
              ))}
            </select>
            <small>{samples.length === 0 ? "Empty at first" : isolated(samples.map(maskText).join("; "))}</small>
          </label>
        )
      })}
    </>
  )
}

type Report = NonNullable<ListCheck["outcome"]> extends Exit.Exit<infer A, unknown> ? A : never

const CheckedList = ({ list, report }: { readonly list: HeldList; readonly report: Report }) => {
  const { imported, alreadyThere, suppressed, repeated, withoutPlace, badCount, badLines, remarks, first = [] } = report
  const names = [...new Set(first.flatMap(({ fields }) => Object.keys(fields)))]
  const params = { campaign: list.campaignId }
  return (
    <Section title="What an import would do">
      <Facts
        facts={{
          "New recipients": formatCount(imported),
          "Already there": formatCount(alreadyThere),
          "Suppressed, so left out": formatCount(suppressed),
          "Repeated, so left out": formatCount(repeated),
          "Rejected, so left out": formatCount(badCount),
          "Without a place, so at any time": withoutPlace !== undefined && formatCount(withoutPlace),
        }}
      />
      {imported + alreadyThere > 0 ? (
        <ActionForm
          action={importChecked}
          params={params}
          label={`Import ${formatCounted(imported, "recipient")}`}
          hidden={{ list: list.id, "skip-bad": "yes" }}
        />
      ) : (
        <p class="empty">No line would be imported.</p>
      )}
      <Items of={remarks.map(({ remark, lines }) => `${formatCounted(lines, "line")}: ${remark}.`)} />
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
        title="First lines, as they are understood"
        rows={first}
        columns={{
          Line: { count: ({ line }) => line },
          NPI: ({ npi }) => npi ?? "–",
          "E-mail": ({ email }) => email ?? "–",
          ...Object.fromEntries(
            names.map((name) => [name, ({ fields }: (typeof first)[number]) => fields[name] ?? "–"]),
          ),
          Fault: ({ fault }) => fault ?? "–",
        }}
      />
    </Section>
  )
}

export const newImportRoutes = [newImportPage, uploadList, checkColumns, importChecked, downloadRejects] as const
