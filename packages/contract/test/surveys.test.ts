import { describe, expect, it } from "vitest"
import type * as z from "zod"
import { examples, PresignResult, SurveyCreated, SurveyInput, ValidateResult } from "../src/index.ts"

const question = { type: "text", text: "Why?" }
const standard = { title: "T", estimatedTime: { min: 1, max: 1 }, incentive: 0, questions: [question] }
const aCase = { title: "C", content: "<p>…</p>", questions: [question] }
const { questions: _, ...bare } = standard
const caseBased = { ...bare, format: "case-based", cases: [aCase] }
const withCase = (fields: object) => ({ ...caseBased, cases: [{ ...aCase, ...fields }] })
const withAudience = (fields: object) => ({ ...standard, targeting: { audiences: [fields] } })

describe("SurveyInput", () => {
  it("has the standard format by default", () => {
    expect(SurveyInput.parse(standard).format).toBe("standard")
    expect(SurveyInput.parse(caseBased).format).toBe("case-based")
  })

  it.each([
    ["a title of 1", { ...standard, title: "t" }],
    ["a title of 200", { ...standard, title: "t".repeat(200) }],
    ["a brief description of 150", { ...standard, briefDescription: "t".repeat(150) }],
    ["an incentive with cents", { ...standard, incentive: 12.5 }],
    ["every text", { ...standard, description: "", sponsor: "", background: "", directions: "", outcomes: "" }],
    ["case-based with intro and closing", { ...caseBased, introQuestions: [question], closingQuestions: [question] }],
    [
      "a case's every text",
      withCase({
        ref: "",
        prompt: "",
        keyPoints: [""],
        summary: "",
        headerLabel: "",
        reflectionLabel: "",
        introLabel: "",
      }),
    ],
    [
      "a publication",
      withCase({
        publication: {
          type: "pdf",
          url: "https://x.test/a.pdf",
          metadata: { journal: "", authors: "", title: "", doi: "", year: 2026 },
        },
      }),
    ],
    ["an audience without fields", withAudience({})],
    [
      "an audience with every field",
      withAudience({
        name: "",
        roles: [""],
        specialtyCodes: ["207RC0000X"],
        states: ["NY"],
        zipCodes: ["10001"],
        compensation: 0,
        quota: 1,
      }),
    ],
  ])("accepts %s", (_name, survey) => {
    expect(SurveyInput.safeParse(survey).error?.issues).toBeUndefined()
  })

  it.each([
    ["no title", { ...standard, title: undefined }, "title"],
    ["an empty title", { ...standard, title: "" }, "title"],
    ["a title of 201", { ...standard, title: "t".repeat(201) }, "title"],
    ["a brief description of 151", { ...standard, briefDescription: "t".repeat(151) }, "briefDescription"],
    ["no estimated time", { ...standard, estimatedTime: undefined }, "estimatedTime"],
    ["a time of 0", { ...standard, estimatedTime: { min: 0, max: 1 } }, "estimatedTime.min"],
    ["a time with a fraction", { ...standard, estimatedTime: { min: 1, max: 1.5 } }, "estimatedTime.max"],
    ["a maximum below the minimum", { ...standard, estimatedTime: { min: 3, max: 2 } }, "estimatedTime.max"],
    ["no incentive", { ...standard, incentive: undefined }, "incentive"],
    ["a negative incentive", { ...standard, incentive: -0.01 }, "incentive"],
    ["an unknown format", { ...standard, format: "long" }, "format"],
    ["standard without questions", bare, "questions"],
    ["standard with intro questions", { ...standard, introQuestions: [question] }, "introQuestions"],
    ["standard with closing questions", { ...standard, closingQuestions: [question] }, "closingQuestions"],
    ["standard with cases", { ...standard, cases: [aCase] }, "cases"],
    ["case-based without cases", { ...bare, format: "case-based" }, "cases"],
    ["case-based with flat questions", { ...caseBased, questions: [question] }, "questions"],
    ["a case without questions", withCase({ questions: undefined }), "cases.0.questions"],
    ["a case with no question", withCase({ questions: [] }), "cases.0.questions"],
    ["a case with an empty title", withCase({ title: "" }), "cases.0.title"],
    ["a case with empty content", withCase({ content: "" }), "cases.0.content"],
    [
      "a case with a faulty question",
      withCase({ questions: [{ type: "text", text: "" }] }),
      "cases.0.questions.0.text",
    ],
    ["a publication without type", withCase({ publication: {} }), "cases.0.publication.type"],
    ["a publication of an unknown type", withCase({ publication: { type: "book" } }), "cases.0.publication.type"],
    ["a publication at no address", withCase({ publication: { type: "link", url: "x" } }), "cases.0.publication.url"],
    [
      "a year with a fraction",
      withCase({ publication: { type: "pdf", metadata: { year: 1.5 } } }),
      "cases.0.publication.metadata.year",
    ],
    ["targeting without audiences", { ...standard, targeting: {} }, "targeting.audiences"],
    ["targeting with no audience", { ...standard, targeting: { audiences: [] } }, "targeting.audiences"],
    ["a quota of 0", withAudience({ quota: 0 }), "targeting.audiences.0.quota"],
    ["a quota with a fraction", withAudience({ quota: 1.5 }), "targeting.audiences.0.quota"],
    ["a negative compensation", withAudience({ compensation: -1 }), "targeting.audiences.0.compensation"],
    ["a state spelt out", withAudience({ states: ["New York"] }), "targeting.audiences.0.states.0"],
    ["a misspelt field", { ...standard, breifDescription: "" }, ""],
  ])("refuses %s", (_name, survey, path) => {
    expect(SurveyInput.safeParse(survey).error?.issues.map((issue) => issue.path.join("."))).toContain(path)
  })
})

describe("responses of the draft operations", () => {
  it.each<[string, z.ZodType, object, readonly string[]]>([
    ["SurveyCreated", SurveyCreated, examples.createSurvey.response, []],
    ["ValidateResult", ValidateResult, { ...examples.validateSurvey.response, caseCount: 1 }, ["caseCount"]],
    ["PresignResult", PresignResult, examples.presignUpload.response, []],
  ])("%s requires its fields and their forms", (_name, schema, example, optional) => {
    expect(schema.parse(example)).toEqual(example)
    for (const field of Object.keys(example)) {
      const rest = Object.fromEntries(Object.entries(example).filter(([name]) => name !== field))
      expect(schema.safeParse(rest).success, field).toBe(optional.includes(field))
      expect(schema.safeParse({ ...example, [field]: [] }).success, field).toBe(false)
    }
  })
  it("have an id that is a UUID and addresses that are URIs", () => {
    expect(SurveyCreated.safeParse({ ...examples.createSurvey.response, id: "7" }).success).toBe(false)
    expect(PresignResult.safeParse({ ...examples.presignUpload.response, publicUrl: "/case.pdf" }).success).toBe(false)
  })
})
