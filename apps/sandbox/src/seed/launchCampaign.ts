import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SandboxError } from "../SandboxError.ts"
import { stopProcess } from "../stopProcess.ts"

/** Imports the recipients of a CSV file into a draft campaign with `ops`, and schedules the campaign. Does not repeat the imports of an interrupted run. */
export const launchCampaign = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  recipients: string,
  environment: Readonly<Record<string, string>>,
) {
  const { status } = yield* (yield* CampaignRepository).find(campaignId)
  if (status !== "draft") return
  const code = yield* runImport(campaignId, recipients, environment)
  if (code !== 0) {
    return yield* new SandboxError({
      message: `The recipients of ${recipients} could not be imported. See the output above.`,
    })
  }
  yield* commandCampaign(campaignId, "schedule")
})

const OPS = fileURLToPath(import.meta.resolve("@outreach/ops/main"))

const runImport = (campaignId: CampaignId, file: string, environment: Readonly<Record<string, string>>) =>
  Effect.callback<number | null>((resume) => {
    const ops = spawn(process.execPath, [OPS, "recipients", "import", "--campaign", campaignId, file], {
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "inherit", "inherit"],
    })
    ops.once("close", (code) => resume(Effect.succeed(code)))
    return stopProcess(ops)
  })
