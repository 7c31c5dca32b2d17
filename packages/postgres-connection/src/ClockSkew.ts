import { Context } from "effect"

/** Maximum difference between the clocks of servers that can take over from each other. Provided by `databaseLayer`. */
export class ClockSkew extends Context.Service<ClockSkew, { readonly seconds: number }>()(
  "postgres-connection/ClockSkew",
) {}
