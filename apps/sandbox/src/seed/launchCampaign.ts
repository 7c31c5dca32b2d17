import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { checkDigit } from "@outreach/domain/recipients/Clinician"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"
import { SandboxError } from "../SandboxError.ts"

const WEEK_MS = 7 * 86_400_000

export const INVITATION = new URL(import.meta.resolve("#seed/invitation.html"))

/** Creates a draft campaign without recipients. Its window is open for a week. */
export const draftCampaign = Effect.fnUntraced(function* (programId: ProgramId) {
  const now = yield* Clock.currentTimeMillis
  const { id } = yield* createCampaign({
    programId,
    name: "Sandbox invitation",
    kind: "traffic",
    subject: "An invitation to {{ program_name }}",
    html: yield* Effect.promise(() => readFile(INVITATION, "utf8")),
    windowStart: fromUnixMillis(now),
    windowEnd: fromUnixMillis(now + WEEK_MS),
  })
  return id
})

/** Imports the recipients of a CSV file into a draft campaign with `ops`, and schedules the campaign. Does not repeat the imports of an interrupted run. */
export const launchCampaign = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  recipients: string,
  environment: Readonly<Record<string, string>>,
) {
  const { status } = yield* (yield* CampaignRepository).find(campaignId)
  if (status !== "draft") return
  const { PATH, NODE_COMPILE_CACHE } = process.env
  yield* Effect.tryPromise({
    try: (signal) =>
      promisify(execFile)(process.execPath, [OPS, "recipients", "import", "--campaign", campaignId, recipients], {
        env: { PATH, NODE_COMPILE_CACHE, ...environment },
        signal,
      }),
    catch: (error) => {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
      const output = (stdout + stderr).trim()
      return new SandboxError({ message: `The recipients of ${recipients} could not be imported.\n${output}` })
    },
  })
  yield* scheduleCampaign(campaignId)
})

const OPS = fileURLToPath(import.meta.resolve("#main/ops"))

const SAMPLE_RECIPIENTS = 1000

/** Writes a CSV file with fictional recipients to a folder, and returns its path. The addresses are the same in each run, and so is the behavior. */
export const writeSampleRecipients = async (folder: string): Promise<string> => {
  const file = join(folder, "sample-recipients.csv")
  const lines = Array.from({ length: SAMPLE_RECIPIENTS }, (_, index) => {
    const digits = String(100_004_999 + 4999 * index)
    return `${digits}${checkDigit(digits)},clinician${index + 1}@clinic.test\n`
  })
  await writeFile(file, `npi,email\n${lines.join("")}`)
  return file
}
