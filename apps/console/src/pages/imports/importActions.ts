import type { Column } from "@outreach/backoffice/csv/ColumnMap"
import { file as fileInput, oneOf, required } from "@outreach/backoffice/operations/Field"
import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { findInStatus } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect, FileSystem, Result, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { PageError, reject } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"
import { checkList, importList } from "./importJobs.ts"
import { type PendingList, PendingLists } from "./PendingLists.ts"

/** An omitted column. Forms send no empty values. */
export const LEFT_OUT = "-"

export const ListId = textSchema("the id of an uploaded list", (text) =>
  /^[0-9a-f-]{36}$/.test(text) ? text : undefined,
)

const isTarget = (text: string) =>
  [LEFT_OUT, "npi", "email"].includes(text) || Result.getOrUndefined(fieldNameOf(text)) === text

const Targets = textSchema("the target of each column", (text): ReadonlyArray<string> | undefined => {
  const targets = text.split(",")
  return targets.every(isTarget) ? targets.map((target) => (target === LEFT_OUT ? "" : target)) : undefined
})

/** The required columns of a list. */
export const wantedOf = ({ fields }: Pick<Campaign, "fields">): ReadonlyArray<string> => [
  ...new Set(["npi", "email", ...fields]),
]

/** Returns the target of each column by its name, empty for ignored and repeated names. */
export const targetsOf = (wanted: ReadonlyArray<string>, columns: ReadonlyArray<Column>): ReadonlyArray<string> => {
  const names = columns.map(({ name }) =>
    /^(?:npi|email)$/i.test(name) ? name.toLowerCase() : Result.getOrElse(fieldNameOf(name), () => ""),
  )
  return names.map((name, i) => (wanted.includes(name) && names.indexOf(name) === i ? name : ""))
}

export const missingIn = (targets: ReadonlyArray<string>, campaign: Campaign): ReadonlyArray<string> =>
  wantedOf(campaign).filter((target) => !targets.includes(target))

const WORDS: Readonly<Record<string, string>> = { npi: "NPI", email: "E-mail address", [LEFT_OUT]: "Leave out" }
export const wordsFor = (target: string): string => WORDS[target] ?? target

export const lackOf = (missing: ReadonlyArray<string>): string =>
  `Choose a column for ${missing.map((target) => (target === "npi" ? "the NPI" : target === "email" ? "the e-mail address" : target)).join(", ")}.`

const addressOf = ({ campaignId, id }: PendingList): string => `/campaigns/${campaignId}/imports/new?list=${id}`

/** The fault of a file, without its path in the console. */
export const messageOf = (error: { readonly message: string }): string =>
  "file" in error && "reason" in error ? `The file can't be imported: ${error.reason}.` : error.message

export const uploadList = defineAction("/campaigns/:campaign/imports/upload", "recipients import", {
  role: "operator",
  inputs: {
    check: oneOf(["yes"]),
    file: required(
      fileInput("List", {
        accept: ".csv,.tsv,.txt,text/csv,text/plain",
        hint: "A text file with one clinician per line: UTF-8, with commas, semicolons, tabs or pipes between columns, at most 50 MiB.",
      }),
    ),
  },
  faults: { UnusableFile: "file" },
  run: Effect.fnUntraced(function* ({ campaign: campaignId }, { operator, file }) {
    if (file === undefined) return yield* reject("NoFile", "The form contains no file. Choose one.")
    const campaign = yield* findInStatus(campaignId, IMPORTABLE)
    const { hold } = yield* PendingLists
    const list = yield* Effect.mapError(hold(operator, campaignId, file), (error) =>
      error instanceof PageError ? error : { _tag: error._tag, message: messageOf(error) },
    )
    const targets = targetsOf(wantedOf(campaign), list.columns)
    if (missingIn(targets, campaign).length === 0) yield* checkList(list, targets, operator)
    return { to: addressOf(list), notice: "Uploaded, not imported yet. Check the preview." }
  }),
})

export const GONE = "The uploaded list has expired (15 minutes) or the console was restarted. Upload the file again."

const findList = Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, id: string) {
  return (yield* PendingLists).find(operator, campaignId, id) ?? (yield* reject("ListGone", GONE))
})

export const checkColumns = defineAction("/campaigns/:campaign/imports/check", "recipients import", {
  role: "operator",
  inputs: { list: required(ListId), check: oneOf(["yes"]), columns: required(Targets) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id, columns: targets }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const chosen = targets.filter((target) => target !== "")
    const twice = chosen.find((target, i) => chosen.indexOf(target) !== i)
    if (twice !== undefined) {
      return yield* reject("UnclearColumns", `More than one column is chosen for ${wordsFor(twice)}. Choose one.`)
    }
    const missing = missingIn(targets, campaign)
    if (missing.length > 0 || targets.length !== list.columns.length)
      return yield* reject("UnclearColumns", lackOf(missing))
    yield* checkList(list, targets, operator)
    return { to: addressOf(list), notice: "Checked again, not imported yet." }
  }),
})

export const importChecked = defineAction("/campaigns/:campaign/imports/import", "recipients import", {
  role: "operator",
  inputs: { list: required(ListId), "skip-bad": oneOf(["yes"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    if (list.check === undefined) return yield* reject("NotChecked", "Check the list first.")
    const importId = yield* importList(list, list.check, operator)
    if (importId === undefined) {
      const notice = "Other imports are running. This one starts after them and then appears here."
      return { to: `/campaigns/${campaignId}/imports`, notice }
    }
    return { to: `/imports/${importId}`, notice: "The import has started. You can leave this page." }
  }),
})

export const downloadRejects = defineAction("/campaigns/:campaign/imports/rejects", "recipients import", {
  role: "operator",
  isRepeatable: true,
  inputs: { list: required(ListId), check: oneOf(["yes"]), rejects: oneOf(["rejects.csv"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const { check } = yield* findList(operator, campaignId, id)
    const files = yield* FileSystem.FileSystem
    if (check?.outcome === undefined) return yield* reject("NotChecked", "The check is still running. Try again later.")
    return HttpServerResponse.stream(Stream.orDie(files.stream(check.rejects)), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": `attachment; filename="rejects.csv"` },
    })
  }),
})
