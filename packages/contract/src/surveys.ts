import * as z from "zod"
import type * as wire from "../types.d.ts"
import { Question } from "./questions.ts"
import type { Schema } from "./Schema.ts"
import { Instant } from "./times.ts"

export const Publication: Schema<Publication> = z
  .strictObject({
    type: z.enum(["pdf", "link", "embedded", "text"]),
    url: z.url().optional(),
    metadata: z
      .strictObject({
        journal: z.string().optional(),
        authors: z.string().optional(),
        title: z.string().optional(),
        doi: z.string().optional(),
        year: z.int().optional(),
      })
      .optional(),
  })
  .meta({ id: "Publication", description: "The publication of a case." })
export type Publication = wire.Publication

const clinicalCase = z
  .strictObject({
    title: z.string().min(1),
    content: z.string().min(1).meta({ description: "HTML." }),
    questions: z.array(Question).min(1),
    ref: z.string().optional(),
    prompt: z.string().optional(),
    publication: Publication.optional(),
    keyPoints: z.array(z.string()).optional(),
    summary: z.string().optional(),
    headerLabel: z.string().optional(),
    reflectionLabel: z.string().optional(),
    introLabel: z.string().optional(),
  })
  .meta({ id: "Case", description: "A clinical case and its questions." })
export type CaseInput = wire.CaseInput
/** A clinical case, decoded, with defaults. */
export interface Case extends z.output<typeof clinicalCase> {}
/** A clinical case and its questions. */
export const Case: Schema<Case, CaseInput> = clinicalCase

export const AudienceInput: Schema<AudienceInput> = z
  .strictObject({
    name: z.string().optional(),
    roles: z.array(z.string()).optional().meta({ description: "NUCC groupings." }),
    specialtyCodes: z.array(z.string()).optional().meta({ description: "NUCC codes." }),
    states: z
      .array(z.string().regex(/^[A-Z]{2}$/, "must be a US state code"))
      .optional()
      .meta({ description: "US state codes." }),
    zipCodes: z.array(z.string()).optional(),
    compensation: z.number().min(0).optional().meta({ description: "Dollars, instead of the survey's incentive." }),
    quota: z.int().min(1).optional().meta({ description: "Target number of responses." }),
  })
  .meta({ id: "AudienceInput", description: "One audience of a survey." })
export type AudienceInput = wire.AudienceInput

/** Audiences of a survey. */
export const Targeting: Schema<Targeting> = z
  .strictObject({ audiences: z.array(AudienceInput).min(1) })
  .meta({ id: "Targeting", description: "The audience of a survey." })
export type Targeting = wire.Targeting

const formats = {
  standard: { needs: "questions", refuses: ["introQuestions", "cases", "closingQuestions"] },
  "case-based": { needs: "cases", refuses: ["questions"] },
} as const

const surveyInput = z
  .strictObject({
    title: z.string().min(1).max(200),
    estimatedTime: z
      .strictObject({ min: z.int().min(1), max: z.int().min(1) })
      .refine(({ min, max }) => max >= min, { path: ["max"], error: "must be at least min" })
      .meta({ description: "`max` is at least `min`." }),
    incentive: z.number().min(0).meta({ description: "Dollars." }),
    description: z.string().optional().meta({ description: "Rich text intro." }),
    briefDescription: z.string().max(150).optional(),
    sponsor: z.string().optional(),
    background: z.string().optional(),
    directions: z.string().optional(),
    outcomes: z.string().optional(),
    format: z.enum(["standard", "case-based"]).default("standard"),
    questions: z.array(Question).optional().meta({ description: "Required for, and only for, the standard format." }),
    introQuestions: z.array(Question).optional().meta({ description: "Case-based only." }),
    cases: z.array(Case).optional().meta({ description: "Required for, and only for, the case-based format." }),
    closingQuestions: z.array(Question).optional().meta({ description: "Case-based only." }),
    targeting: Targeting.optional(),
  })
  .superRefine((survey, context) => {
    const { needs, refuses } = formats[survey.format]
    if (survey[needs] === undefined) {
      context.addIssue({ code: "custom", path: [needs], message: `is required for the ${survey.format} format` })
    }
    for (const field of refuses) {
      if (survey[field] !== undefined) {
        context.addIssue({ code: "custom", path: [field], message: `is not allowed in the ${survey.format} format` })
      }
    }
  })
  .meta({ id: "SurveyInput", description: "A submitted survey. Unknown fields are rejected." })
export type SurveyInput = wire.SurveyInput
/** A survey, decoded, with defaults. */
export interface Survey extends z.output<typeof surveyInput> {}
/**
 * A submitted survey.
 *
 * Rejects unknown keys at every level, so that misspelled optional fields aren't silently lost, and the fields
 * of the other format.
 */
export const SurveyInput: Schema<Survey, SurveyInput> = surveyInput

const questionCount = z.int().min(0)

export const SurveyCreated: Schema<SurveyCreated> = z
  .object({
    id: z.uuid(),
    title: z.string(),
    status: z.string().meta({ description: "`draft` for a created survey." }),
    questionCount,
    createdAt: Instant,
  })
  .meta({ id: "SurveyCreated", description: "A survey saved as a draft." })
export type SurveyCreated = wire.SurveyCreated

export const ValidateResult: Schema<ValidateResult> = z
  .object({ valid: z.boolean(), questionCount, caseCount: z.int().min(0).optional() })
  .meta({ id: "ValidateResult", description: "The outcome of a dry run." })
export type ValidateResult = wire.ValidateResult

export const PresignResult: Schema<PresignResult> = z
  .object({
    url: z.url().meta({ description: "Upload here by PUT." }),
    publicUrl: z.url().meta({ description: "Refer to the file by this after the upload." }),
    expiresIn: z.int().min(0).meta({ description: "Seconds until the upload URL expires." }),
  })
  .meta({ id: "PresignResult", description: "Where to upload a file, and where it is found afterwards." })
export type PresignResult = wire.PresignResult

/** Query of the presigned upload. */
export const PresignQuery = z.strictObject({
  filename: z.string().meta({ description: "Used for content-type detection." }),
  contentType: z.string().default("application/pdf"),
})
