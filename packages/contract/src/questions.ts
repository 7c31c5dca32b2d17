import * as z from "zod"
import type * as wire from "../types.d.ts"
import type { Schema } from "./Schema.ts"

export const OptionObject: Schema<OptionObject> = z
  .strictObject({ text: z.string().min(1), value: z.string().optional() })
  .meta({ id: "OptionObject", description: "One choice: its text, and the value to store for it." })
export type OptionObject = wire.OptionObject

const options = z.array(z.union([z.string(), OptionObject]))
const scalePoints = z.int().min(2).max(10).default(5)

const subQuestion = z
  .strictObject({
    type: z.enum(["scale", "single-choice", "multiple-choice", "yes-no"]),
    label: z.string().min(1),
    required: z.boolean().default(true),
    options: options.optional(),
    points: scalePoints,
    labels: z.strictObject({ start: z.string().optional(), end: z.string().optional() }).optional(),
  })
  .meta({ id: "SubQuestion", description: "One row of a compound question." })
export type SubQuestionInput = wire.SubQuestionInput
/** A row of a compound question, decoded, with defaults. */
export interface SubQuestion extends z.output<typeof subQuestion> {}
/** A row of a compound question. */
export const SubQuestion: Schema<SubQuestion, SubQuestionInput> = subQuestion

const question = z
  .strictObject({
    type: z.enum(["text", "single-choice", "multiple-choice", "scale", "yes-no", "number", "maxdiff", "compound"]),
    text: z.string().min(1),
    description: z.string().optional(),
    required: z.boolean().default(true),
    placeholder: z.string().optional(),
    voiceEnabled: z.boolean().default(false),
    validation: z
      .strictObject({
        minLength: z.int().optional(),
        maxLength: z.int().optional(),
        min: z.number().optional(),
        max: z.number().optional(),
      })
      .optional(),
    options: options.optional().meta({ description: "At least 2 for single-choice and multiple-choice." }),
    allowOther: z.boolean().default(false),
    maxSelections: z.int().optional(),
    randomizeOptions: z.boolean().default(false),
    points: scalePoints,
    labels: z
      .strictObject({
        start: z.string().optional(),
        end: z.string().optional(),
        points: z.array(z.string()).optional(),
      })
      .optional(),
    visualization: z
      .enum([
        "slider",
        "likert",
        "semantic",
        "descriptive",
        "frequency",
        "comparative",
        "numerical",
        "graphic",
        "multi-dimension",
      ])
      .default("likert"),
    showLabels: z.boolean().default(true),
    showValue: z.boolean().default(true),
    flipped: z.boolean().default(false),
    yesText: z.string().default("Yes"),
    noText: z.string().default("No"),
    items: z.array(z.string()).min(4).max(20).optional().meta({ description: "Required for maxdiff." }),
    config: z.strictObject({ itemsPerTask: z.int().optional(), totalTasks: z.int().optional() }).optional(),
    contextHeader: z.string().optional(),
    subQuestions: z.array(SubQuestion).optional(),
  })
  .refine(({ type, options }) => !type.endsWith("-choice") || (options !== undefined && options.length >= 2), {
    path: ["options"],
    error: "must hold at least 2 options for single-choice and multiple-choice",
  })
  .refine(({ type, items }) => type !== "maxdiff" || items !== undefined, {
    path: ["items"],
    error: "is required for maxdiff",
  })
  .meta({ id: "Question", description: "A survey's question." })
export type QuestionInput = wire.QuestionInput
/** A survey question, decoded, with defaults. */
export interface Question extends z.output<typeof question> {}
/** A survey question. */
export const Question: Schema<Question, QuestionInput> = question
