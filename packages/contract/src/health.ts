import * as z from "zod"
import type { Schema } from "./Schema.ts"
import { Timestamp } from "./times.ts"

const health = z
  .object({
    status: z.string().meta({ description: "`ok` when reachable." }),
    version: z.string().meta({ description: "The released version." }),
    timestamp: Timestamp,
  })
  .meta({ id: "Health", description: "What the health check says." })
/** What the health check says. */
export interface Health extends z.infer<typeof health> {}
/** What the health check says. */
export const Health: Schema<Health> = health
