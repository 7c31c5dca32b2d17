import * as z from "zod"
import type * as wire from "../types.d.ts"
import { CampaignId, ProgramId } from "./identifiers.ts"
import type { Schema } from "./Schema.ts"

/** True only on the production deployment. */
export const Livemode = z.boolean().meta({ description: "True only on the production deployment." })

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
export type CampaignSummary = wire.CampaignSummary

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
export type ProgramSummary = wire.ProgramSummary
