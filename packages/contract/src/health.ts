import * as z from "zod"
import { Timestamp } from "./times.ts"

/** What the health check says. */
export const Health = z
  .object({
    status: z.string().meta({ description: "`ok` when reachable." }),
    version: z.string().meta({ description: "The released version." }),
    timestamp: Timestamp,
  })
  .meta({ id: "Health", description: "What the health check says." })
/** What the health check says. */
export type Health = z.infer<typeof Health>
