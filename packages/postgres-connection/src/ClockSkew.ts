import { Context } from "effect"

/** How far the clocks of servers that take over from one another may be apart; `databaseLayer` provides it. */
export class ClockSkew extends Context.Service<ClockSkew, { readonly seconds: number }>()(
  "postgres-connection/ClockSkew",
) {}
