import { Context } from "effect"

/** The deployment of this process, if responses depend on it. */
export class Deployment extends Context.Service<
  Deployment,
  {
    /** True only on the production deployment. */
    readonly livemode: boolean
  }
>()("domain/Deployment") {}
