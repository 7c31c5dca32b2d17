import { Context } from "effect"

/** The deployment of this process, if responses depend on it. */
export class Deployment extends Context.Service<
  Deployment,
  {
    /** True only on the production deployment. */
    readonly livemode: boolean
  }
>()("domain/Deployment") {}

/** Deployment settings that preflight checks, as far as this process knows them. */
export class PreflightSettings extends Context.Service<
  PreflightSettings,
  {
    /** Whether messages of the deployment's own sender are signed; null if unknown. */
    readonly signsMail: boolean | null
    /** Base URL of the links in e-mails; null if unknown. */
    readonly publicBaseUrl: string | null
  }
>()("domain/PreflightSettings") {}
