import { Context } from "effect"

/** The settings of the deployment that preflight checks, as far as this process knows them. */
export class PreflightSettings extends Context.Service<
  PreflightSettings,
  {
    /** Whether a key signs what the deployment's own sender sends; null where that is not known. */
    readonly signsMail: boolean | null
    /** Where the links of e-mails lead; null where that is not known. */
    readonly publicBaseUrl: string | null
  }
>()("domain/campaigns/PreflightSettings") {}
