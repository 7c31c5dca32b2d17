import { Context } from "effect"

/** Where this process runs, as far as its answers depend on it. */
export class Deployment extends Context.Service<
  Deployment,
  {
    /** True only on the production deployment. */
    readonly livemode: boolean
  }
>()("domain/Deployment") {}
