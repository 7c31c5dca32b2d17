import * as z from "zod"
import type * as wire from "../types.d.ts"
import type { Schema } from "./Schema.ts"
import { Timestamp } from "./times.ts"

export const Health: Schema<Health> = z
  .object({
    status: z.string().meta({ description: "`ok` when reachable." }),
    version: z.string().meta({ description: "The released version." }),
    timestamp: Timestamp,
  })
  .meta({ id: "Health", description: "The result of the health check." })
export type Health = wire.Health
