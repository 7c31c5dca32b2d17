import { describe, expect, it } from "vitest"
import { Question } from "../src/index.ts"

const text = { type: "text", text: "Why?" }
const choice = { type: "single-choice", text: "Which?", options: ["a", { text: "b", value: "B" }] }
const maxdiff = { type: "maxdiff", text: "Best and worst?", items: ["a", "b", "c", "d"] }
const compound = { type: "compound", text: "Rate", subQuestions: [{ type: "scale", label: "Cost" }] }
const items = (count: number) => Array.from({ length: count }, (_, at) => `item ${at}`)
const row = (fields: object) => ({ ...compound, subQuestions: [{ type: "scale", label: "Cost", ...fields }] })

describe("Question", () => {
  it.each([
    ["text", text],
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

  it("fills in the specified defaults and no other fields", () => {
    expect(Question.parse(text)).toEqual({
      ...text,
      required: true,
      voiceEnabled: false,
      allowOther: false,
      randomizeOptions: false,
      points: 5,
      visualization: "likert",
      showLabels: true,
      showValue: true,
      flipped: false,
      yesText: "Yes",
      noText: "No",
    })
    expect(Question.parse(compound).subQuestions).toEqual([{ type: "scale", label: "Cost", required: true, points: 5 }])
  })

  it.each([
    ["text of one character", { ...text, text: "?" }],
    [
      "every optional field",
      { ...text, description: "", placeholder: "", voiceEnabled: true, contextHeader: "", maxSelections: 2 },
    ],
    ["validation", { ...text, validation: { minLength: 1, maxLength: 9, min: 0.5, max: 1.5 } }],
    ["config", { ...maxdiff, config: { itemsPerTask: 4, totalTasks: 3 } }],
    ["labels", { ...text, labels: { start: "a", end: "b", points: ["1", "2"] } }],
    ["points at 2", { ...text, type: "scale", points: 2 }],
    ["points at 10", { ...text, type: "scale", points: 10 }],
    ["items at 4", maxdiff],
    ["items at 20", { ...maxdiff, items: items(20) }],
    ["fewer options where no choice is made", { ...text, options: ["a"] }],
    ["an option with text alone", { ...choice, options: [{ text: "a" }, "b"] }],
    [
      "a sub-question's every field",
      row({ required: false, options: ["a"], points: 10, labels: { start: "a", end: "b" } }),
    ],
  ])("accepts %s", (_name, question) => {
    expect(Question.safeParse(question).success).toBe(true)
  })

  it.each([
    ["no type", { text: "Why?" }, "type"],
    ["no text", { type: "text" }, "text"],
    ["an unknown type", { ...text, type: "essay" }, "type"],
    ["empty text", { ...text, text: "" }, "text"],
    ["an unknown visualization", { ...text, visualization: "pie" }, "visualization"],
    ["points at 1", { ...text, points: 1 }, "points"],
    ["points at 11", { ...text, points: 11 }, "points"],
    ["points with a fraction", { ...text, points: 2.5 }, "points"],
    ["a fraction of a length", { ...text, validation: { minLength: 1.5 } }, "validation.minLength"],
    ["a bound that is text", { ...text, validation: { min: "1" } }, "validation.min"],
    ["a fraction of selections", { ...text, maxSelections: 1.5 }, "maxSelections"],
    ["label points that are no strings", { ...text, labels: { points: [1] } }, "labels.points.0"],
    ["a single-choice without options", { ...choice, options: undefined }, "options"],
    ["a single-choice with one option", { ...choice, options: ["a"] }, "options"],
    ["a multiple-choice with one option", { ...choice, type: "multiple-choice", options: ["a"] }, "options"],
    ["an option with empty text", { ...choice, options: ["a", { text: "" }] }, "options.1.text"],
    ["an option without text", { ...choice, options: ["a", { value: "b" }] }, "options.1"],
    ["a maxdiff without items", { ...maxdiff, items: undefined }, "items"],
    ["3 items", { ...maxdiff, items: items(3) }, "items"],
    ["21 items", { ...maxdiff, items: items(21) }, "items"],
    ["3 items of another type", { ...text, items: items(3) }, "items"],
    ["a fraction of tasks", { ...maxdiff, config: { totalTasks: 1.5 } }, "config.totalTasks"],
    ["a sub-question without label", { ...compound, subQuestions: [{ type: "scale" }] }, "subQuestions.0.label"],
    ["a sub-question with empty label", row({ label: "" }), "subQuestions.0.label"],
    ["a sub-question of type text", row({ type: "text" }), "subQuestions.0.type"],
    ["a sub-question with 1 point", row({ points: 1 }), "subQuestions.0.points"],
    ["a sub-question with 11 points", row({ points: 11 }), "subQuestions.0.points"],
    ["a sub-question with label points", row({ labels: { points: ["a"] } }), "subQuestions.0.labels"],
    ["a misspelt field", { ...text, requierd: true }, ""],
  ])("refuses %s", (_name, question, path) => {
    expect(Question.safeParse(question).error?.issues.map((issue) => issue.path.join("."))).toContain(path)
  })
})
