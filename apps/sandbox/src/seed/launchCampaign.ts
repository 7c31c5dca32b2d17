import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SandboxError } from "../SandboxError.ts"

/** Imports the recipients of a CSV file into a campaign that is still a draft, as an operator would, and schedules it. What an interrupted run has imported is not imported again. */
export const launchCampaign = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  recipients: string,
  environment: Readonly<Record<string, string>>,
) {
  const { status } = yield* (yield* CampaignBook).find(campaignId)
  if (status !== "draft") return
  const code = yield* runImport(campaignId, recipients, environment)
  if (code !== 0) {
    return yield* new SandboxError({ message: `The recipients of ${recipients} could not be imported; see above.` })
  }
  yield* commandCampaign(campaignId, "schedule")
})

const runImport = (campaignId: CampaignId, file: string, environment: Readonly<Record<string, string>>) =>
  Effect.promise(async (signal) => {
    const ops = spawn(
      process.execPath,
      [
        fileURLToPath(import.meta.resolve("@outreach/ops/main")),
        "recipients",
        "import",
        "--campaign",
        campaignId,
        file,
      ],
      { env: { PATH: process.env["PATH"], ...environment }, stdio: ["ignore", "inherit", "inherit"], signal },
    )
    const [code] = (await once(ops, "close")) as [number | null]
    return code
  })
