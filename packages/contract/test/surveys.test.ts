import { describe, expect, it } from "vitest"
import { SurveyInput } from "../src/index.ts"

const question = { type: "text", text: "Why?" }
const standard = { title: "T", estimatedTime: { min: 1, max: 1 }, incentive: 0, questions: [question] }
const aCase = { title: "C", content: "<p>…</p>", questions: [question] }
const { questions: _, ...bare } = standard
const around = { introQuestions: [question], closingQuestions: [question] }
const caseBased = { ...bare, format: "case-based", cases: [aCase], ...around }

// The published draft has the fields, their types and their bounds: see conformance/drafts.test.ts of the API.
describe("SurveyInput", () => {
  it("has the standard format by default", () => {
    expect(SurveyInput.parse(standard).format).toBe("standard")
    expect(SurveyInput.parse(caseBased).format).toBe("case-based")
  })

  it.each([
    ["a maximum below the minimum", { ...standard, estimatedTime: { min: 3, max: 2 } }, "estimatedTime.max"],
    ["standard without questions", bare, "questions"],
    ["standard with intro questions", { ...standard, introQuestions: [question] }, "introQuestions"],
    ["standard with closing questions", { ...standard, closingQuestions: [question] }, "closingQuestions"],
    ["standard with cases", { ...standard, cases: [aCase] }, "cases"],
    ["case-based without cases", { ...bare, format: "case-based" }, "cases"],
    ["case-based with flat questions", { ...caseBased, questions: [question] }, "questions"],
    [
      "a state spelt out",
      { ...standard, targeting: { audiences: [{ states: ["New York"] }] } },
      "targeting.audiences.0.states.0",
    ],
    ["a misspelt field", { ...standard, breifDescription: "" }, ""],
  ])("refuses %s", (_name, survey, path) => {
    expect(SurveyInput.safeParse(survey).error?.issues.map((issue) => issue.path.join("."))).toContain(path)
  })
})
