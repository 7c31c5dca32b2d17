import { PreflightSettings } from "@outreach/domain/campaigns/PreflightSettings"
import { optionalPublicBaseUrl } from "@outreach/process/settings"
import { Effect, Layer } from "effect"
import { optionalSmtpSettings } from "./smtpSettings.ts"

/** Reads what preflight checks from the settings of this process. */
export const readPreflightSettings = Effect.gen(function* () {
  const smtp = yield* optionalSmtpSettings
  return {
    signsMail: smtp === null ? null : smtp.sender.dkim !== null,
    publicBaseUrl: yield* optionalPublicBaseUrl,
  }
})

export const preflightSettings = Layer.effect(PreflightSettings, readPreflightSettings)
