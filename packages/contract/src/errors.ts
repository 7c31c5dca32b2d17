import * as z from "zod"
import type * as wire from "../types.d.ts"
import { legacyCatalog, type PartnerErrorCode, type PartnerErrorType, partnerCatalog } from "./catalogs.ts"
import { RequestId } from "./identifiers.ts"
import type { Schema } from "./Schema.ts"

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] => Object.keys(table) as Key[]

export const PartnerError: Schema<PartnerError> = z
  .object({
    error: z.object({
      type: z
        .enum(keysOf<PartnerErrorType>(partnerCatalog.types))
        .meta({ description: "The value for retry and UX logic." }),
      code: z
        .enum(keysOf<PartnerErrorCode>(partnerCatalog.codes))
        .meta({ description: "The set only grows: treat a code you do not know by its `type`." }),
      message: z.string().meta({ description: "Human-readable." }),
      details: z.record(z.string(), z.unknown()).nullable().optional().meta({
        description: "Free-form; `parameter` names the parameter of MISSING_PARAMETER and INVALID_PARAMETER.",
      }),
      doc_url: z.url().meta({ description: "The code's entry in the published guide." }),
      request_id: RequestId,
    }),
  })
  .meta({ id: "PartnerError", description: "The body of every error response of the partner endpoints." })
export type PartnerError = wire.PartnerError

export const LegacyError: Schema<LegacyError> = z
  .object({
    error: z.object({
      code: z.enum(keysOf(legacyCatalog.codes)),
      message: z.string(),
      errors: z
        .array(
          z.object({
            code: z.string(),
            path: z.string().meta({ description: "Location in the submitted survey." }),
            message: z.string(),
          }),
        )
        .optional(),
    }),
  })
  .meta({ id: "LegacyError", description: "The body of every error response of the survey and upload endpoints." })
export type LegacyError = wire.LegacyError
