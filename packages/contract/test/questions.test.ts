import { describe, expect, it } from "vitest"
import { Question } from "../src/index.ts"

const text = { type: "text", text: "Why?" }
const choice = { type: "single-choice", text: "Which?", options: ["a", { text: "b", value: "B" }] }
const maxdiff = { type: "maxdiff", text: "Best and worst?", items: ["a", "b", "c", "d"] }
const compound = { type: "compound", text: "Rate", subQuestions: [{ type: "scale", label: "Cost" }] }

// The published draft has the fields, their types and their bounds: see conformance/drafts.test.ts of the API.
describe("Question", () => {
  it.each([
    // Only a choice needs two options.
    ["text", { ...text, options: ["a"] }],
    ["single-choice", choice],
    ["multiple-choice", { ...choice, type: "multiple-choice" }],
    ["scale", { ...text, type: "scale" }],
    ["yes-no", { ...text, type: "yes-no" }],
    ["number", { ...text, type: "number" }],
    ["maxdiff", maxdiff],
    ["compound", compound],
  ])("accepts the type %s", (type, question) => {
    expect(Question.parse(question).type).toBe(type)
  })

  it.each([
    ["a single-choice without options", { ...choice, options: undefined }, "options"],
    ["a single-choice with one option", { ...choice, options: ["a"] }, "options"],
    ["a multiple-choice with one option", { ...choice, type: "multiple-choice", options: ["a"] }, "options"],
    ["an option with empty text", { ...choice, options: ["a", { text: "" }] }, "options.1.text"],
    ["an option without text", { ...choice, options: ["a", { value: "b" }] }, "options.1"],
    ["a maxdiff without items", { ...maxdiff, items: undefined }, "items"],
    [
      "a sub-question with label points",
      { ...compound, subQuestions: [{ type: "scale", label: "Cost", labels: { points: ["a"] } }] },
      "subQuestions.0.labels",
    ],
    ["a misspelt field", { ...text, requierd: true }, ""],
  ])("refuses %s", (_name, question, path) => {
    expect(Question.safeParse(question).error?.issues.map((issue) => issue.path.join("."))).toContain(path)
  })
})
