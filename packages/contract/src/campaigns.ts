import * as z from "zod"
import { CampaignId, ProgramId } from "./identifiers.ts"
import type { Schema } from "./Schema.ts"

/** Whether the resource is of the production deployment. */
export const Livemode = z.boolean().meta({ description: "True only on the production deployment." })

/** A campaign, in short. */
export interface CampaignSummary {
  object: "campaign"
  /** True only on the production deployment. */
  livemode: boolean
  /** `cmp_<hex>` */
  id: string
  name: string
  /** `pgm_<hex>` */
  program_id: string
  /** Free string. */
  status: string
}
/** A campaign, in short. */
export const CampaignSummary: Schema<CampaignSummary> = z
  .object({
    object: z.literal("campaign"),
    livemode: Livemode,
    id: CampaignId,
    name: z.string(),
    program_id: ProgramId,
    status: z.string().meta({ description: "Free string." }),
  })
  .meta({ id: "CampaignSummary", description: "A campaign, in short." })

/** A program, in short. */
export interface ProgramSummary {
  object: "program"
  /** True only on the production deployment. */
  livemode: boolean
  /** `pgm_<hex>` */
  id: string
  /** The partner's own name of the program. */
  slug: string
  name: string
  /** Free string. */
  status: string
}
/** A program, in short. */
export const ProgramSummary: Schema<ProgramSummary> = z
  .object({
    object: z.literal("program"),
    livemode: Livemode,
    id: ProgramId,
    slug: z.string().meta({ description: "Program slug used by the partner." }),
    name: z.string(),
    status: z.string().meta({ description: "Free string." }),
  })
  .meta({ id: "ProgramSummary", description: "A program, in short." })
